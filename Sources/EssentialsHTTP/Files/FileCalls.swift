#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The calls of a download whose failure a test cannot bring about by real means.
package struct FileCalls: Sendable {
    /// Writes some of the bytes and says how many, or the negative error number.
    package var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
    /// Has a file's or directory's content put on the disk. 0 or the error number.
    package var sync: @Sendable (Int32) -> Int32
    /// Gives a file a second name that must be new. 0 or the error number.
    package var link: @Sendable (String, String) -> Int32
    /// How many bytes fit on the open file's disk, or nil where that is not known.
    package var freeBytes: @Sendable (Int32) -> Int64?

    /// The system's own.
    package static let system = FileCalls(
        write: { descriptor, bytes in
            #if canImport(Glibc)
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
                let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #else
                let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
            return count < 0 ? -Int(errno) : count
        },
        sync: { fsync($0) == 0 ? 0 : errno },
        link: { from, to in
            // The one with flags, as what POSIX's own does with a symbolic link is left open.
            linkat(AT_FDCWD, from, AT_FDCWD, to, 0) == 0 ? 0 : errno
        },
        freeBytes: { descriptor in
            var facts = statvfs()
            guard fstatvfs(descriptor, &facts) == 0, facts.f_blocks > 0 else { return nil }
            let blocks = geteuid() == 0 ? facts.f_bfree : facts.f_bavail
            let (bytes, overflows) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
            return overflows ? nil : Int64(exactly: bytes)
        })

    /// Writes all of the bytes.
    func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count == -Int(EINTR) { continue }
            // Nothing written and no error: asked again, it would be so for ever.
            guard count > 0 else { throw SystemError(code: count == 0 ? EIO : Int32(clamping: -count)) }
            rest = rest.dropFirst(count)
        }
    }
}
