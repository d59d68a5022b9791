# attack: kernel settings of the network, as root
# family: 20
# runs: root
# stopped-by: design
# network: "open"
#
# uid 0 of a namespace's owner may write /proc/sys/net even without capabilities.

_SETTINGS = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv4/ip_forward": "1",
    "ipv4/conf/all/route_localnet": "1",
    "ipv4/ip_unprivileged_port_start": "1024",
    "ipv4/ping_group_range": "0 65535",
    "netfilter/nf_conntrack_max": "1",
}


def attack():
    changed = []
    for name, value in _SETTINGS.items():
        try:
            with open("/proc/sys/net/" + name, "w") as setting:
                setting.write(value)
            changed.append(name)
        except OSError:
            continue
    return "ESCAPED: changed " + " ".join(changed) if changed else "HELD: none can be written"


if __name__ == "__main__":
    verdict = attack()
    print(verdict)
    raise SystemExit({"HELD": 0, "ESCAPED": 42}.get(verdict.split(":")[0], 43))
