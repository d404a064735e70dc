import Glibc
import Testing

@testable import EssentialsReachability

@Suite struct InterfaceKindTests {
    /// A directory that resembles sysfs and exists as long as the test.
    private final class FakeSysfs {
        let root: String

        init() throws {
            root = "/tmp/essentials-sysfs-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            try #require(mkdir(root, 0o700) == 0 && mkdir(root + "/class", 0o700) == 0)
            try #require(mkdir(root + "/class/net", 0o700) == 0)
        }

        deinit { Self.remove(root) }

        /// Names that end with a slash are directories; names with `=` are files with contents.
        func add(_ name: String, index: Int, _ entries: [String]) throws {
            let folder = "\(root)/class/net/\(name)"
            try #require(mkdir(folder, 0o700) == 0)
            for entry in ["ifindex=\(index)\n"] + entries {
                if entry.hasSuffix("/") {
                    try #require(mkdir("\(folder)/\(entry)", 0o700) == 0)
                    continue
                }
                let parts = entry.split(separator: "=", maxSplits: 1)
                let file = open("\(folder)/\(parts[0])", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                try #require(file >= 0)
                let content = Array(parts[1].utf8)
                try #require(write(file, content, content.count) == content.count)
                close(file)
            }
        }

        private static func remove(_ path: String) {
            guard unlink(path) != 0, let folder = opendir(path) else { return }
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { remove(path + "/" + name) }
            }
            closedir(folder)
            rmdir(path)
        }
    }

    private func link(_ type: UInt16, flags: UInt32 = 1, driver: String? = nil) -> LinkReply {
        LinkReply(index: 7, name: "n0", hardwareType: type, flags: flags, state: 6, driverKind: driver)
    }

    @Test(
        "The kind of an interface with a sysfs entry follows from its entry and hardware type",
        arguments: [
            (["device/"], 1, .ethernet), (["device/", "uevent=INTERFACE=n0\nIFINDEX=7\n"], 1, .ethernet),
            (["device/", "wireless/"], 1, .wireless), (["phy80211/"], 1, .wireless),
            (["device/", "uevent=DEVTYPE=wlan\nINTERFACE=n0\n"], 1, .wireless),
            (["device/", "uevent=DEVTYPE=wwan\n"], 1, .wwan), (["device/", "uevent=DEVTYPE=wwan\n"], 65534, .wwan),
            (["device/"], 519, .wwan), (["device/"], 512, .pointToPoint), ([], 512, .pointToPoint),
            (["tun_flags=0x1001\n"], 1, .tunnel), ([], 65534, .tunnel), (["uevent=DEVTYPE=wireguard\n"], 1, .tunnel),
            ([], 776, .tunnel), ([], 1, .virtual), (["uevent=DEVTYPE=bridge\n"], 1, .virtual),
            (["uevent=DEVTYPE=vlan\n", "bridge/"], 1, .virtual), ([], 772, .loopback), (["device/"], 32, .other),
        ] as [([String], UInt16, NetworkInterface.Kind)])
    func known(entries: [String], type: UInt16, kind: NetworkInterface.Kind) throws {
        let sysfs = try FakeSysfs()
        try sysfs.add("n0", index: 7, entries)
        let entry = SysfsTree(root: sysfs.root).entry(name: "n0", index: 7)
        #expect(entry != nil)
        #expect(InterfaceKindRules.kind(of: link(type), entry: entry) == kind)
    }

    @Test(
        "The kind of an interface without a sysfs entry follows from the kernel's message",
        arguments: [
            (1, nil, .ethernet), (1, "veth", .virtual), (1, "bridge", .virtual), (1, "tun", .tunnel),
            (65534, "wireguard", .tunnel), (1, "wireguard", .tunnel), (768, "ipip", .tunnel), (519, "wwan", .wwan),
            (512, "ppp", .pointToPoint), (772, nil, .loopback), (32, nil, .other),
        ] as [(UInt16, String?, NetworkInterface.Kind)])
    func unknown(type: UInt16, driver: String?, kind: NetworkInterface.Kind) {
        #expect(InterfaceKindRules.kind(of: link(type, driver: driver), entry: nil) == kind)
    }

    @Test("The loopback flag has priority")
    func flag() {
        let entry = SysfsEntry(isWireless: true)
        #expect(InterfaceKindRules.kind(of: link(1, flags: 9), entry: entry) == .loopback)
    }

    @Test("An entry with another index, a missing file and a name that is a path are no entry")
    func others() throws {
        let sysfs = try FakeSysfs()
        try sysfs.add("n0", index: 7, ["device/"])
        let tree = SysfsTree(root: sysfs.root)
        #expect(tree.entry(name: "n0", index: 7) == SysfsEntry(hasDevice: true))
        #expect(tree.entry(name: "n0", index: 8) == nil)
        #expect(tree.entry(name: "n1", index: 7) == nil)
        for name in ["", ".", "..", "../net/n0", "n0/../n0"] { #expect(tree.entry(name: name, index: 7) == nil) }
        #expect(SysfsTree(root: "/nonexistent").entry(name: "n0", index: 7) == nil)
    }
}
