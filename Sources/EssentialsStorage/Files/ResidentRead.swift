import EssentialsTools

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads parts of files that are already in the system's memory. This never waits for a disk, so it needs no file
/// thread. A change of threads takes longer than reading some ten thousand bytes.
package enum ResidentRead {
    private typealias Call = @convention(c) (Int32, UnsafePointer<iovec>?, Int32, off_t, Int32) -> Int

    /// The flag `RWF_NOWAIT`: fail with `EAGAIN` instead of waiting (Linux 4.14).
    private static let withoutWaiting: Int32 = 8

    /// `preadv2(2)`; `nil` if the C library does not have it. It is looked up by name, because the module of the C
    /// library does not contain its declaration. Its type is that of the manual page.
    private static let call: Call? = dlsym(nil, "preadv2").map { unsafeBitCast($0, to: Call.self) }

    /// The first bytes of a file; `nil` if they are not all in memory, or if the file system or the kernel does not
    /// support this check.
    package static func bytes(of file: OpenFile, count: Int) -> Data? {
        guard call != nil else { return nil }
        guard count > 0 else { return Data() }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        return adopt(memory, fill(memory, from: file, at: 0))
    }

    /// The bytes from a position, under the same conditions.
    package static func array(of file: OpenFile, count: Int, at position: Int64 = 0) -> [UInt8]? {
        var isWhole = false
        let bytes = [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, filled in
            let target = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<max(count, 0)]))
            isWhole = fill(target, from: file, at: position)
            filled = isWhole ? target.count : 0
        }
        return isWhole ? bytes : nil
    }

    /// Fills memory with the bytes from a position; `false` under the same conditions.
    static func fill(_ memory: UnsafeMutableRawBufferPointer, from file: OpenFile, at position: Int64) -> Bool {
        guard let call else { return false }
        var target = iovec(iov_base: memory.baseAddress, iov_len: memory.count)
        return call(file.descriptor, &target, 1, off_t(position), withoutWaiting) == memory.count
    }

    /// Returns memory as `Data`, which frees it. If reading was incomplete, the memory is freed at once.
    package static func adopt(_ memory: UnsafeMutableRawBufferPointer, _ isComplete: Bool) -> Data? {
        guard isComplete, let base = memory.baseAddress else {
            memory.deallocate()
            return nil
        }
        // `Data` copies a few bytes and frees the memory at once, so this is its last use.
        return Data(bytesNoCopy: base, count: memory.count, deallocator: .custom { base, _ in base.deallocate() })
    }
}
