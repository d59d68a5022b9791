"""A small internet for tests: two network namespaces, the servers of the world in one, Belljar's machine in the other.

The world has "public" addresses, so that what is allowed and denied here is what is allowed and denied outside:
93.184.216.34 and .35 are ordinary servers, 169.254.169.254 looks like a cloud's metadata service, 10.200.0.2 is a
neighbour in the private network. 10.200.0.1 and 93.184.216.99 are Belljar's own machine, with a service on each and on
its loopback. Names are in a hosts file that only that machine has; what is not in it is asked of 93.184.216.53, which
changes its mind (see network_servers.py).

As a program (network_world.py SCRATCH) it says "up" and the pid whose namespaces are the machine's, and stays until its
standard input ends. `belljar selftest` carries it along and runs its attacks there."""

import os
import subprocess
import sys

HOSTS = """127.0.0.1 localhost
93.184.216.34 allowed.example api.allowed.example
93.184.216.35 other.example
169.254.169.254 metadata.example
127.0.0.1 loop.example
10.200.0.2 private.example
93.184.216.99 own.example
93.184.216.77 nobody.example
93.184.216.34 closed.example
"""
# What the machine finds in /etc instead of its own.
ETC = {"hosts": HOSTS, "resolv.conf": "nameserver 93.184.216.53\noptions timeout:10 attempts:1\n",
       "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n"}
SERVERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "network_servers.py")


class World:
    def __init__(self, scratch):
        self.scratch = scratch
        self.children = []
        try:
            self.make()
        except BaseException:
            self.stop()
            raise

    def make(self):
        self.make_certificates()
        binds = ""
        for name, text in ETC.items():
            path = os.path.join(self.scratch, name)
            with open(path, "w") as file:
                file.write(text)
            if os.path.exists("/etc/" + name):
                binds += f"mount --bind {path} /etc/{name} && "
        keep = f"mount --make-rprivate / && {binds}ip link set lo up && echo up && exec cat"
        self.machine = self.start("unshare", "-n", "-m", "sh", "-c", keep)
        servers = self.servers = self.start("unshare", "-n", "sh", "-c", "ip link set lo up && echo up && exec cat")
        self.inside(self.machine, "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", str(servers))
        for command in ("address add 10.200.0.1/24 dev v0", "address add 93.184.216.99/32 dev lo", "link set v0 up",
                        "route add default via 10.200.0.2"):
            self.inside(self.machine, "ip", *command.split())
        for address in ("93.184.216.34", "93.184.216.35", "93.184.216.53", "169.254.169.254"):
            self.inside(servers, "ip", "address", "add", address + "/32", "dev", "lo")
        for command in ("address add 10.200.0.2/24 dev v1", "link set v1 up", "route add 93.184.216.99/32 via 10.200.0.1"):
            self.inside(servers, "ip", *command.split())
        self.start("nsenter", f"--net=/proc/{servers}/ns/net", sys.executable, SERVERS, "world", self.scratch)
        self.start("nsenter", f"--net=/proc/{self.machine}/ns/net", sys.executable, SERVERS, "machine", self.scratch)

    def make_certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.scratch, check=True, capture_output=True)

        new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
        openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA")
        openssl("req", "-x509", *new_key, "-keyout", "server.key", "-out", "server.pem", "-subj", "/CN=allowed.example",
                "-CA", "ca.pem", "-CAkey", "ca.key", "-addext",
                "subjectAltName=DNS:allowed.example,DNS:*.allowed.example,DNS:other.example",
                "-addext", "basicConstraints=critical,CA:FALSE")

    def start(self, *command):
        """A process that says "up" once it is, and ends with us; its pid."""
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        self.children.append(child)
        assert child.stdout.readline() == b"up\n", command
        return child.pid

    @staticmethod
    def inside(pid, *command):
        subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", *command], check=True)

    def on_the_machine(self):
        """What stands before a command that runs there."""
        return ["nsenter", f"--net=/proc/{self.machine}/ns/net", f"--mount=/proc/{self.machine}/ns/mnt"]

    def stop(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()
            child.stdout.close()
            child.stdin.close()


def main(scratch):
    try:
        world = World(scratch)
    except (OSError, subprocess.SubprocessError, AssertionError) as error:
        sys.exit(f"down: {error}")
    print("up", world.machine, flush=True)
    sys.stdin.read()
    world.stop()


if __name__ == "__main__":
    main(sys.argv[1])
