#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// System calls of a download that a test replaces to make them fail.
package struct FileCalls: Sendable {
    /// Writes some of the bytes, and returns their number or the negated error number.
    package var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
    /// Flushes the content of a file or directory to the disk. Returns 0 or the error number.
    package var sync: @Sendable (Int32) -> Int32
    /// Gives a file a second name, which must not exist. Returns 0 or the error number.
    package var link: @Sendable (String, String) -> Int32
    /// Removes a name. Returns 0 or the error number.
    package var unlink: @Sendable (String) -> Int32 = { path in
        #if canImport(Glibc)
            let result = Glibc.unlink(path)
        #elseif canImport(Musl)
            let result = Musl.unlink(path)
        #else
            let result = Darwin.unlink(path)
        #endif
        return result == 0 ? 0 : errno
    }
    /// The number of bytes that are free on the file system of an open file; `nil` if it is not known.
    package var freeBytes: @Sendable (Int32) -> Int64?

    /// The system's own calls.
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
            // linkat, because POSIX does not specify what link does with a symbolic link.
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
    package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count == -Int(EINTR) { continue }
            // Writing 0 bytes without an error counts as an error, because a retry could loop forever.
            guard count > 0 else { throw SystemError(code: count == 0 ? EIO : Int32(clamping: -count)) }
            rest = rest.dropFirst(count)
        }
    }
}
