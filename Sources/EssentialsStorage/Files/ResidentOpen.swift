import EssentialsTools

/// Opens files whose names are already in the system's memory. Like ``ResidentRead``, this never waits for a disk, so it
/// needs no file thread.
package enum ResidentOpen {
    package enum Outcome: Sendable {
        case file(OpenFile)
        /// No file has the name, as the system remembers.
        case missing
        /// Only ``OpenFile`` can find it out, because the system would have to wait, or because it does not support this.
        case unknown
    }

    /// Opens a file, with the flags of ``OpenFile``.
    package static func open(_ path: String, _ flags: Int32) -> Outcome {
        guard let call, isSupported.load(ordering: .relaxed) else { return .unknown }
        let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let manner = Manner(flags: UInt64(UInt32(bitPattern: flags)))
        let opened = withUnsafeBytes(of: manner) { manner in
            path.withCString { path in
                call(number, Int(AT_FDCWD), path, manner.baseAddress, manner.count)
            }
        }
        guard opened < 0 else { return .file(OpenFile(adopting: Int32(truncatingIfNeeded: opened))) }
        switch errno {
        case ENOENT: return .missing
        // An older kernel, or a sandbox that does not know the call. Neither changes while the process runs.
        case ENOSYS, EPERM, EINVAL, E2BIG: isSupported.store(false, ordering: .relaxed)
        default: break
        }
        return .unknown
    }

    /// Whether a directory is on a file system of this machine, which opens a file whose name is in memory without
    /// waiting. Others ask a server or another process.
    package static func isLocal(_ directory: String) -> Bool {
        typealias Status = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> Int32
        // The module of the C library does not contain the declaration.
        guard call != nil, let status = dlsym(nil, "statfs").map({ unsafeBitCast($0, to: Status.self) }) else {
            return false
        }
        // The structure has 120 bytes, and begins with the type of the file system.
        var facts = [Int](repeating: 0, count: 64)
        let code = facts.withUnsafeMutableBytes { facts in status(directory, facts.baseAddress) }
        return code == 0 && localTypes.contains(facts[0])
    }

    /// Extended, XFS, Btrfs, F2FS, the memory, and overlays, whose upper layer is always local.
    private static let localTypes = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x794c_7630]

    // MARK: The system call

    /// The structure `open_how` of openat2(2).
    private struct Manner {
        let flags: UInt64
        var mode: UInt64 = 0
        /// `RESOLVE_CACHED`: fail with `EAGAIN` instead of waiting (Linux 5.12).
        var resolve: UInt64 = 0x20
    }

    private typealias Call = @convention(c) (Int, Int, UnsafePointer<CChar>, UnsafeRawPointer?, Int) -> Int

    /// `SYS_openat2`, the same for all processors.
    private static let number = 437

    private static let isSupported = Atomic(true)

    #if os(Linux) && (arch(x86_64) || arch(arm64))
        /// `syscall(2)`; `nil` if the C library does not have it. It is looked up by name, because functions with a variable
        /// number of arguments are not imported. On these processors integers and pointers are passed to it like to any
        /// other function.
        private static let call: Call? = dlsym(nil, "syscall").map { unsafeBitCast($0, to: Call.self) }
    #else
        private static let call: Call? = nil
    #endif
}
