import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An open file, closed with the last reference to it. All calls may block: they belong on a file thread.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    private let isLocked = Atomic(false)

    /// Opens a file that no program started later inherits. Never waits for the other end of a pipe.
    ///
    /// - Parameters:
    ///   - flags: How to open it, beside `O_CLOEXEC`, `O_NONBLOCK` and `O_NOCTTY`.
    ///   - mode: The permissions of a new file before the process's mask.
    package init(_ path: String, _ flags: Int32, mode: UInt16 = 0o666) throws(SystemError) {
        let opened = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode_t(mode))
        guard opened >= 0 else { throw SystemError.last }
        descriptor = opened
    }

    deinit {
        // A child process between fork(2) and exec(2) has copies of all descriptors, and closing ours would leave the
        // lock with it.
        if isLocked.load(ordering: .relaxed) { _ = flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    package func status() throws(SystemError) -> FileStatus { try FileStatus(ofOpen: descriptor) }

    /// Reads from a position until the buffer is full or the file ends, and says how many bytes that were.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(SystemError) -> Int {
        var count = 0
        while count < buffer.count, let base = buffer.baseAddress {
            let got = pread(descriptor, base + count, buffer.count - count, off_t(position) + off_t(count))
            if got < 0 {
                guard errno == EINTR else { throw SystemError.last }
                continue
            }
            if got == 0 { break }
            count += got
        }
        return count
    }

    /// So many bytes from a position on, or nil when the file ends before.
    func piece(at position: Int64, count: Int) throws(SystemError) -> Data? {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
        let got: Int
        do throws(SystemError) {
            got = try read(into: UnsafeMutableRawBufferPointer(start: memory, count: count), at: position)
        } catch {
            memory.deallocate()
            throw error
        }
        // Takes the memory over, and of a few bytes keeps a copy and frees it at once: only now, therefore.
        let piece = Data(bytesNoCopy: memory, count: count, deallocator: .custom { base, _ in base.deallocate() })
        return got == count ? piece : nil
    }

    /// Cuts the file off, and goes on writing there.
    package func truncate(to size: Int64) throws(SystemError) {
        guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) >= 0 else {
            throw SystemError.last
        }
    }

    /// Goes on writing at a position.
    package func seek(to position: Int64) throws(SystemError) {
        guard lseek(descriptor, off_t(position), SEEK_SET) >= 0 else { throw SystemError.last }
    }

    /// Asks for the file's advisory lock. False when another opening of the file has it.
    ///
    /// - Parameter otherwise: What is said where the file system has no locks.
    package func lock(otherwise: Bool = true) -> Bool {
        // Set before it is known: giving back what one does not have does no harm.
        isLocked.store(true, ordering: .relaxed)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { return otherwise }
        }
        return true
    }
}
