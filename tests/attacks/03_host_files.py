# attack: the host's secrets at the places where they usually lie
# family: 3
# runs: call exec root
# stopped-by: root mountns
#
# No escape at all: simply look. What is there came in with the template or by a mount.
import glob
import os

_WORTH_A_LOOK = [
    "/root/.ssh", "/root/.aws", "/root/.bash_history", "/root/.docker/config.json", "/root/.kube", "/root/.pyenv",
    "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
    "/run/systemd/private", "/var/lib/docker", "/var/lib/belljar", "/var/log/auth.log", "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ed25519_key", "/etc/sudoers.d", "/boot/vmlinuz", "/var/tmp/belljar-attack-canary", "/work",
]


def attack():
    found = [path for path in _WORTH_A_LOOK if os.path.exists(path)]
    found += [path for path in glob.glob("/home/*") if path != "/home/user"]
    found += glob.glob("/boot/vmlinuz*") + glob.glob("/var/spool/cron/crontabs/*")
    for path in ("/etc/shadow", "/etc/shadow-", "/etc/gshadow"):
        try:
            with open(path) as lines:
                if any(line.split(":")[1].startswith("$") for line in lines if ":" in line):
                    found.append(path + " with a password in it")
        except OSError:
            pass
    return "ESCAPED: found " + ", ".join(found) if found else "HELD: nothing of the host is there"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
