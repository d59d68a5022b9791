"""The first step of building an environment, inside the builder's sandbox: an empty virtual environment where calls will
see it, and a pip to fill it with, outside of it.

Started as `python3 -I prepare_environment.py ENVIRONMENT PIP_DIRECTORY`; prints where packages will lie. Fails with one
sentence on stderr. pip comes from the wheel that Python bundles (on Debian: python3-venv), else from an installed pip.
"""

import glob
import os
import shutil
import sys
import zipfile


def bundled_wheels():
    try:
        import ensurepip
    except ImportError:
        return []
    folders = [os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"), getattr(ensurepip, "_WHEEL_PKG_DIR", None)]
    folders.append("/usr/share/python-wheels")
    return [wheel for folder in folders if folder for wheel in sorted(glob.glob(os.path.join(folder, "pip-*.whl")))]


def installed_pip():
    for folder in [*sys.path, "/usr/lib/python3/dist-packages"]:
        if os.path.isfile(os.path.join(folder, "pip", "__main__.py")):
            return os.path.join(folder, "pip")
    return None


def unpack_pip(target):
    """A copy, because pip takes everything beside itself for installed."""
    wheels = bundled_wheels()
    if wheels:
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extractall(target)
        return
    found = installed_pip()
    if found is None:
        sys.exit("the template's Python has no pip: install python3-venv (or python3-pip) on the host, "
                 "or import a template whose Python has it")
    shutil.copytree(found, os.path.join(target, "pip"), ignore=shutil.ignore_patterns("__pycache__"))


def make_environment(directory):
    try:
        import venv
    except ImportError:
        sys.exit("the template's Python has no venv module: install python3-venv on the host, "
                 "or import a template whose Python has it")
    venv.EnvBuilder(with_pip=False, symlinks=True).create(directory)
    found = glob.glob(os.path.join(directory, "lib", "python*", "site-packages"))
    if not found:
        sys.exit("the template's Python made no usable virtual environment")
    return found[0]


if __name__ == "__main__":
    unpack_pip(sys.argv[2])
    print(make_environment(sys.argv[1]))
