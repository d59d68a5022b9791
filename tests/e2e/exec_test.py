"""`belljar exec`: any command in a fresh sandbox."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from story import BELLJAR, Story, processes_mentioning


def command_line(pid):
    """None of a process that has ended meanwhile."""
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read().rstrip("\0").split("\0")
    except OSError:
        return None


class Commands(Story):
    def test_a_command_runs_as_user_in_a_fresh_place(self):
        done = self.in_sandbox("id -un; pwd; hostname; touch /usr/bin/mine && echo wrote")
        self.assertEqual(done.stdout.decode().split("\n")[:3], ["user", "/home/user", "belljar"])
        self.assertNotIn("wrote", done.stdout.decode())

    def test_its_exit_status_is_ours(self):
        self.assertEqual(self.in_sandbox("exit 7").returncode, 7)
        self.assertEqual(self.in_sandbox("kill -KILL $$").returncode, 137)

    def test_it_can_be_started_with_its_stdio_closed(self):
        # Our own sockets took the places of 0, 1 and 2, and it never ended.
        done = subprocess.run(["sh", "-c", 'exec "$0" exec -- sh -c "echo out; echo err >&2; cat; exit 7" <&- >&- 2>&-', BELLJAR],
                              timeout=60, env={"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch})
        self.assertEqual(done.returncode, 7)

    def test_it_ends_when_nobody_reads_its_output_any_more(self):
        # We kept the command's pipe open: it waited until the wall time limit.
        line = '"$0" exec -- yes | head -n 1; exit "${PIPESTATUS[0]}"'
        done = subprocess.run(["bash", "-c", line, BELLJAR], stdout=subprocess.PIPE, timeout=50,
                              env={"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data, "HOME": self.scratch})
        self.assertEqual((done.stdout, done.returncode), (b"y\n", 128 + signal.SIGPIPE))

    def test_there_is_no_network_but_loopback(self):
        script = "import socket\ns=socket.socket()\ns.settimeout(1)\ntry: s.connect(('1.1.1.1', 53)); print('OUT')\n" \
                 "except OSError as e: print('none')\nprint([n for _, n in socket.if_nameindex()] if False else 'lo')"
        done = self.belljar("exec", "--", "python3", "-c", script)
        self.assertEqual(done.stdout.decode().split()[0], "none")

    def test_a_server_inside_is_reached_over_its_own_loopback(self):
        script = "import socket, threading\ns=socket.create_server(('127.0.0.1', 80))\n" \
                 "threading.Thread(target=lambda: s.accept()[0].send(b'hi')).start()\n" \
                 "print(socket.create_connection(('127.0.0.1', 80)).recv(2))"
        done = self.belljar("exec", "--user", "root", "--", "python3", "-c", script)
        self.assertEqual(done.stdout.decode().strip(), "b'hi'", done.stderr)

    def test_sudo_needs_no_password_and_makes_root_of_the_sandbox_only(self):
        done = self.in_sandbox("sudo id -u; sudo touch /usr/bin/mine && ls /usr/bin/mine; sudo sh -c 'exit 5'; echo $?; cd /tmp && sudo pwd")
        self.assertEqual(done.stdout.decode().split(), ["0", "/usr/bin/mine", "5", "/tmp"], done.stderr)
        self.assertFalse(os.path.exists("/usr/bin/mine"))

    def test_a_login_shell_finds_sudo_although_its_profile_sets_another_path(self):
        done = self.belljar("exec", "--", "bash", "-l", "-c", "sudo id -u; /usr/bin/sudo id -u")
        self.assertEqual(done.stdout.decode().split(), ["0", "0"], done.stderr)

    def test_sudo_finds_what_only_root_needs_whatever_the_callers_path(self):
        done = self.belljar("exec", "--", "bash", "-l", "-c", "PATH=/usr/bin:/bin; sudo sh -c 'echo $PATH; command -v ldconfig'; sudo ldconfig --version | head -n 1")
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[0], "/opt/belljar/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", done.stderr)
        self.assertTrue(lines[1].endswith("/sbin/ldconfig") and "ldconfig" in lines[2], lines)

    def test_sudo_makes_another_user_with_his_ids_and_without_rights(self):
        done = self.in_sandbox("sudo -u www-data sh -c 'id -u; id -g; id -G; echo $USER $LOGNAME $HOME; grep CapEff /proc/self/status; cd /tmp; touch mine; stat -c %U mine'; "
                               "sudo -nu user whoami; sudo -u '#65534' whoami; sudo -iu user pwd; sudo -u user touch /etc/x 2>/dev/null || echo refused")
        self.assertEqual(done.stdout.decode().split("\n")[:-1],
                         ["33", "33", "33", "www-data www-data /var/www", "CapEff:\t0000000000000000", "www-data", "user", "nobody", "/home/user", "refused"], done.stderr)

    def test_sudo_refuses_whom_and_what_it_does_not_know_instead_of_being_root(self):
        done = self.in_sandbox("sudo sh -c 'echo far:x:70000:70000::/:/bin/sh >> /etc/passwd; echo all:x:4294967295:4294967295::/:/bin/sh >> /etc/passwd'; "
                               "for who in stranger '#4242' '#4294967295' all far; do sudo -u $who id && echo ran; done; sudo -g user id && echo ran; sudo -D / id && echo ran; true")
        self.assertEqual((done.stdout, done.returncode), (b"", 0), done.stderr)
        said = done.stderr.decode().splitlines()
        self.assertEqual(len(said), 7, said)
        self.assertEqual(said[0], "sudo: unknown user: stranger")
        self.assertIn("ids", said[4])

    def test_the_warden_makes_nobody_of_ids_that_are_none(self):
        # What a hostile client sends: all ones mean "as before" to the kernel, and that would be root.
        script = "import os, socket, struct\n" \
                 "def ask(uid, gid):\n" \
                 "  s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect('/run/belljar/sudo.sock')\n" \
                 "  r, w = os.pipe()\n" \
                 "  socket.send_fds(s, [struct.pack('<IHHHHIIIIiII', 1, 1, 0, 0, 0, uid, gid, 0, 0, 0, 2, 0) + b'/\\0/usr/bin/id\\0-u\\0'], [0, w, w])\n" \
                 "  os.close(w)\n" \
                 "  return struct.unpack('<IIi', s.recv(100)[:12])[2] > 0, os.read(r, 100)\n" \
                 "none = 2 ** 32 - 1\n" \
                 "for ids in ((0, 0), (33, 33), (none, 0), (33, none), (none, none), (70000, 33), (33, 70000)): print(*ask(*ids))"
        done = self.belljar("exec", "--", "python3", "-c", script)
        self.assertEqual(done.stdout.decode().splitlines(), ["True b'0\\n'", "True b'33\\n'"] + ["False b''"] * 5, done.stderr)

    def test_sudo_takes_variables_and_answers_questions(self):
        done = self.in_sandbox("A=old sudo A=new B= HOME=/h sh -c 'env | grep -E \"^(A|B|HOME)=\" | sort'; sudo -v; echo $?; sudo -n -v; echo $?; sudo -l | grep -c NOPASSWD")
        self.assertEqual(done.stdout.decode().split(), ["A=new", "B=", "HOME=/h", "0", "0", "1"], done.stderr)

    def test_users_and_groups_can_be_made_with_the_usual_programs(self):
        done = self.in_sandbox("sudo useradd -m bob && sudo groupadd club && sudo usermod -aG club bob && id -nG bob && sudo -u bob sh -c 'cd; pwd'")
        self.assertEqual(done.stdout.decode(), "bob club\n/home/bob\n", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "without root there is no mask over the host's /usr")
    def test_everybody_may_write_where_e2b_lets_them(self):
        done = self.in_sandbox("stat -c '%U %a' /code /usr/local /usr/local/bin; printf '#!/bin/sh\\necho mine\\n' > /usr/local/bin/own; chmod +x /usr/local/bin/own; own; "
                               "touch /code/x /usr/local/lib/x && ls /code; touch /usr/lib/x 2>/dev/null || echo refused; ls /usr/local/share | head -n 1 | wc -l")
        self.assertEqual(done.stdout.decode().split("\n")[:-1], ["root 777"] * 3 + ["mine", "x", "refused", "1"], done.stderr)
        self.assertFalse(os.path.exists("/usr/local/bin/own"))

    def test_a_login_shell_keeps_a_path_that_was_chosen(self):
        shells = "bash -l -c 'echo $PATH'; PATH=/opt/tool/bin:$PATH bash -l -c 'echo $PATH'; PATH= /bin/bash -l -c 'echo $PATH'; sudo bash -l -c 'echo $PATH'"
        users = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
        roots = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        done = self.in_sandbox(shells)
        self.assertEqual(done.stdout.decode().split(), [users, "/opt/tool/bin:/opt/belljar/bin:" + roots, users, roots], done.stderr)

    def test_apt_knows_the_machines_packages_and_installs_others(self):
        script = "mkdir -p p/DEBIAN p/usr/bin; printf '#!/bin/sh\\necho installed\\n' > p/usr/bin/tiny; chmod 755 p/usr/bin/tiny; " \
                 "printf 'Package: tiny\\nVersion: 1\\nArchitecture: all\\nMaintainer: us\\nDepends: bash\\nDescription: none\\n' > p/DEBIAN/control; " \
                 "dpkg-deb -b p tiny.deb >/dev/null && apt-get install -y ./tiny.deb >out 2>&1 || cat out; tiny; dpkg -S /usr/bin/tiny; " \
                 "find /var/lib/dpkg/info -type f -size +0 ! -name 'tiny.*' ! -name format"
        done = self.in_sandbox(script, "--user", "root")
        self.assertEqual(done.stdout.decode(), "installed\ntiny: /usr/bin/tiny\n", done.stderr)

    def test_nothing_of_the_host_is_there(self):
        done = self.in_sandbox("cat /etc/shadow; ls -A /root /home /var/lib /sys; all=$(ls /proc); echo \"$all\" | grep -c '^[0-9]'", "--user", "root")
        self.assertIn("shadow", done.stderr.decode())
        self.assertNotIn("root:x", done.stdout.decode())
        self.assertEqual(done.stdout.decode().split(), ["/home:", "user", "/root:", "/sys:", "/var/lib:", "dpkg", "3"])  # warden, sh, ls

    def test_standard_input_is_passed_when_asked_for(self):
        self.assertEqual(self.belljar("exec", "-i", "--", "cat", input=b"ping").stdout, b"ping")
        self.assertEqual(self.belljar("exec", "--", "cat", input=b"ping").stdout, b"")

    def test_large_output_streams_through(self):
        done = self.in_sandbox("head -c 20000000 /dev/zero")
        self.assertEqual(len(done.stdout), 20_000_000)

    def test_a_host_directory_can_be_mounted(self):
        shared = os.path.join(self.scratch, "shared")
        os.mkdir(shared)
        with open(os.path.join(shared, "note"), "w") as file:
            file.write("from the host")
        done = self.in_sandbox("cat /data/note; touch /data/new", "--mount", shared + ":/data")
        self.assertEqual(done.stdout, b"from the host")
        self.assertEqual(os.listdir(shared), ["note"])

    def test_a_command_that_is_not_there(self):
        done = self.belljar("exec", "--", "no-such-program")
        self.assertIn(done.returncode, (3, 127))
        self.assertIn("no-such-program", done.stderr.decode())

    def test_the_wall_limit_ends_the_whole_sandbox(self):
        done = self.in_sandbox("sleep 7654323 & sleep 100", "--timeout", "300ms")
        self.assertEqual(done.returncode, 124)

    def test_who_is_killed_at_any_moment_leaves_no_process(self):
        # What looks at the kernel first waited for ever to be told that it was done.
        for moment in range(60):
            command = [BELLJAR, "exec", "--", "sleep", "7654325"]
            with subprocess.Popen(command, env={"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
                time.sleep(moment / 1500)
                running.kill()
        late = time.monotonic() + 5
        while processes_mentioning("7654325") and time.monotonic() < late:
            time.sleep(0.05)
        self.assertEqual([command_line(pid) for pid in processes_mentioning("7654325")], [])

    @unittest.skipIf(os.geteuid() != 0, "without root there is one user id for all")
    def test_what_the_kernel_counts_by_user_is_charged_to_nobody_else(self):
        ns_get_owner_uid = 0xB704
        command = [BELLJAR, "exec", "--", "sleep", "7654324"]
        with subprocess.Popen(command, env={"PATH": os.environ["PATH"], "BELLJAR_DATA": self.data}) as running:
            inside = []
            while not inside and running.poll() is None:  # the command and its launcher mention it, too
                inside = [pid for pid in processes_mentioning("7654324") if command_line(pid) == ["sleep", "7654324"]]
            [pid] = inside
            with open(f"/proc/{pid}/uid_map") as ids, open(f"/proc/{pid}/ns/user") as namespace:
                first_outside = int(ids.read().split()[1])
                owner = struct.unpack("I", fcntl.ioctl(namespace, ns_get_owner_uid, bytes(4)))[0]
            running.kill()
        self.assertGreater(first_outside, 65535)
        self.assertEqual(owner, first_outside)

    def test_json_tells_the_seal(self):
        answer = json.loads(self.in_sandbox("echo hi", "--json").stdout)
        self.assertEqual((answer["status"], answer["stdout"]), ("ok", "hi\n"))
        self.assertEqual(answer["seal"]["seccomp"]["state"], "on")

    def test_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["BELLJAR_DATA"] = self.data
            os.execv(BELLJAR, [BELLJAR, "exec", "-it", "--", "sh", "-c", "tty; stty size; read line; echo got $line"])
        seen = b""
        while b"pts" not in seen and select.select([terminal], [], [], 30)[0]:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"typed\n")
        try:
            while select.select([terminal], [], [], 30)[0]:
                chunk = os.read(terminal, 1000)
                if not chunk:
                    break
                seen += chunk
        except OSError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, seen)
        self.assertIn(b"got typed", seen)

    def typed(self, command, *keys):
        """What a command in a terminal of 33 rows and 99 columns shows, and its exit status. Each of `keys` is (text to
        wait for, what is typed then)."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["BELLJAR_DATA"] = self.data
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
            os.execv(BELLJAR, [BELLJAR, "exec", "-it", "--", "sh", "-c", command])
        seen = b""
        waiting = list(keys)
        try:
            while select.select([terminal], [], [], 60)[0]:
                chunk = os.read(terminal, 1000)
                if not chunk:
                    break
                seen += chunk
                while waiting and waiting[0][0] in seen:
                    os.write(terminal, waiting.pop(0)[1])
        except OSError:
            pass
        os.close(terminal)
        return seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_a_command_of_sudo_has_a_terminal_of_its_own_with_the_callers_size(self):
        seen, status = self.typed("tty; sudo sh -c 'tty; stty size; id -u; exit 7'", )
        self.assertEqual(status, 7, seen)
        lines = seen.split()
        self.assertEqual(lines[2:], ["33", "99", "0"])
        self.assertTrue(lines[0].startswith("/dev/pts/") and lines[1].startswith("/dev/pts/"))
        self.assertNotEqual(lines[0], lines[1])

    def test_keys_reach_a_command_of_sudo_and_control_c_ends_it(self):
        # `cat` itself, and no shell around it: that may lose an interrupt which comes just before it starts something.
        seen, status = self.typed("sudo sh -c 'echo ready; exec cat'; echo status $?; stty -a | grep -c ' icanon'",
                                  (b"ready", b"typed\n"), (b"typed\r\ntyped", b"\x03"))
        self.assertIn("status 130", seen)
        self.assertEqual(seen.split()[-1], "1", "the caller's terminal is as it was")

    def test_sudo_gives_a_login_shell_with_job_control(self):
        seen, status = self.typed("sudo -i", (b"# ", b"echo $HOME $((40 + 2)); sleep 100 &\n"), (b"/root 42", b"jobs; kill %1; exit 3\n"))
        self.assertEqual(status, 3, seen)
        self.assertIn("/root 42", seen)
        self.assertIn("Running", seen)
        self.assertNotIn("no job control", seen)

    def test_a_signal_to_sudo_is_one_to_its_command(self):
        done = self.in_sandbox("sudo sh -c 'trap \"echo caught; exit 9\" USR1; echo ready; while :; do sleep 0.1; done' > out & "
                               "until grep -q ready out; do sleep 0.05; done; kill -USR1 $!; wait $!; echo $?; cat out")
        self.assertEqual(done.stdout.decode().split(), ["9", "ready", "caught"], done.stderr)


if __name__ == "__main__":
    unittest.main()
