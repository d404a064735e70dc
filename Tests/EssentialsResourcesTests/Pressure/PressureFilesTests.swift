import Testing

@testable import EssentialsResources

@Suite("Files of memory pressure")
struct PressureFilesTests {
    @Test(
        "The directory of the control group is found in the texts of the kernel",
        arguments: [
            ("0::/user/a", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw", "/sys/fs/cgroup/user/a"),
            ("0::/", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "/sys/fs/cgroup"),
            // Version 1 together with version 2, and optional fields.
            (
                "4:memory:/x\n0::/y",
                "1 1 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                    + "2 1 0:2 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 none rw",
                "/sys/fs/cgroup/unified/y"
            ),
            // A container sees a part of the hierarchy.
            ("0::/pod/one/sub", "2 1 0:2 /pod/one /sys/fs/cgroup ro - cgroup2 cgroup2 rw", "/sys/fs/cgroup/sub"),
            ("0::/pod/one", "2 1 0:2 /pod/one /sys/fs/cgroup ro - cgroup2 cgroup2 rw", "/sys/fs/cgroup"),
            ("0::/a", "2 1 0:2 / /my\\040groups ro - cgroup2 cgroup2 rw", "/my groups/a"),
        ] as [(String, String, String)])
    func directory(groups: String, mounts: String, expected: String) {
        #expect(PressureFiles.directory(groups: groups, mounts: mounts) == expected)
    }

    @Test(
        "Without a mounted control group of version 2 there is no directory",
        arguments: [
            ("", ""), ("4:memory:/x", "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
            ("0::/a", "2 1 0:2 / /sys/fs/cgroup rw - cgroup cgroup rw"),
            ("0::/podium", "2 1 0:2 /pod /sys/fs/cgroup ro - cgroup2 cgroup2 rw"),
            ("0::/a", "- cgroup2"), ("0::/a", "1 2 3 4 5 6 -"), ("0::/a", "\\ \\0 \\999 - cgroup2 - cgroup2 x"),
        ])
    func noDirectory(groups: String, mounts: String) {
        #expect(PressureFiles.directory(groups: groups, mounts: mounts) == nil)
    }

    @Test("Counters that have grown mean pressure")
    func events() {
        let first = MemoryEvents("low 0\nhigh 3\nmax 1\noom 0\n")
        #expect(first.pressure(since: first) == nil)
        #expect(MemoryEvents("high 4\nmax 1").pressure(since: first) == .low)
        #expect(MemoryEvents("high 4\nmax 2").pressure(since: first) == .critical)
        #expect(MemoryEvents("low 9\nhigh\nmax x\nhigh 1 2\n").pressure(since: first) == nil)
    }
}
