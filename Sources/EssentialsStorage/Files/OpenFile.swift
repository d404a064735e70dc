import EssentialsTools

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// An open file, which is closed with the last reference to it. All calls may block and belong on a file thread.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// The process that has locked the file; 0 if none has.
    private let locker = Atomic<pid_t>(0)

    /// Opens a file. The descriptor is not inherited by programs started later, and opening a pipe never
    /// waits for its other end.
    ///
    /// - Parameters:
    ///   - flags: The flags in addition to `O_CLOEXEC`, `O_NONBLOCK` and `O_NOCTTY`.
    ///   - mode: The permissions of a new file before the process's mask is applied.
    package init(_ path: String, _ flags: Int32, mode: UInt16 = 0o666) throws(FileError) {
        let opened = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode_t(mode))
        guard opened >= 0 else { throw FileError.last }
        descriptor = opened
    }

    /// Takes over a descriptor, which it closes.
    init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // A child process between fork(2) and exec(2) has copies of all descriptors. Closing only our descriptor would
        // leave the lock with the child. The child must not release the lock of its parent.
        let locker = locker.load(ordering: .relaxed)
        if locker != 0, locker == getpid() { _ = flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    package func status() throws(FileError) -> FileStatus { try FileStatus(ofOpen: descriptor) }

    /// Reads from a position until the buffer is full or the file ends, and returns the number of bytes.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count, let base = buffer.baseAddress {
            let got = pread(descriptor, base + count, buffer.count - count, off_t(position) + off_t(count))
            if got < 0 {
                guard errno == EINTR else { throw FileError.last }
                continue
            }
            if got == 0 { break }
            count += got
        }
        return count
    }

    /// Returns the bytes from the beginning to the end, or as many as the maximum.
    ///
    /// The file is read to its end and not to its size, because files of the kernel have no size.
    package func bytes(upTo maximum: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        // Requesting one byte more than the size shows the end with the first call.
        var wanted = min(maximum, Int(clamping: try status().size) + 1)
        while bytes.count < maximum {
            let position = Int64(bytes.count)
            var failure: FileError?
            let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                do throws(FileError) {
                    let all = UnsafeMutableRawBufferPointer(buffer)
                    count = try read(into: UnsafeMutableRawBufferPointer(rebasing: all[..<wanted]), at: position)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if bytes.isEmpty { bytes = part } else { bytes += part }
            if part.count < wanted { break }
            wanted = min(64 << 10, maximum - bytes.count)
        }
        return bytes
    }

    /// Returns the bytes from a position. There are fewer if the file ends earlier.
    package func bytes(count size: Int, at position: Int64 = 0) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: max(size, 0)) { buffer, count in
            do throws(FileError) {
                let all = UnsafeMutableRawBufferPointer(buffer)
                count = try read(into: UnsafeMutableRawBufferPointer(rebasing: all[..<max(size, 0)]), at: position)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns `count` bytes from a position, or `nil` if the file ends earlier.
    package func piece(at position: Int64, count: Int) throws(FileError) -> Data? {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
        let got: Int
        do throws(FileError) {
            got = try read(into: UnsafeMutableRawBufferPointer(start: memory, count: count), at: position)
        } catch {
            memory.deallocate()
            throw error
        }
        // `Data` takes ownership of the memory. For a few bytes it copies them and frees the memory at once, so this
        // must be the last use of the pointer.
        let piece = Data(bytesNoCopy: memory, count: count, deallocator: .custom { base, _ in base.deallocate() })
        return got == count ? piece : nil
    }

    /// Truncates the file and continues writing at its new end.
    package func truncate(to size: Int64) throws(FileError) {
        guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) >= 0 else {
            throw FileError.last
        }
    }

    /// Continues writing at a position.
    package func seek(to position: Int64) throws(FileError) {
        guard lseek(descriptor, off_t(position), SEEK_SET) >= 0 else { throw FileError.last }
    }

    /// Tries to acquire the file's advisory lock. Returns false if the file is locked through another open file.
    ///
    /// - Parameters:
    ///   - isShared: Whether others can share the lock in the same way.
    ///   - withoutLocks: Whether the lock counts as acquired on a file system without locks. Otherwise, this is an
    ///     error.
    package func lock(isShared: Bool = false, withoutLocks: Bool) throws(FileError) -> Bool {
        // Set before the result is known, because releasing a lock that is not held is harmless.
        locker.store(getpid(), ordering: .relaxed)
        while flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let error = FileError.last
            if error.isOfLock { return false }
            if error.code == EINTR { continue }
            guard withoutLocks else { throw error }
            return true
        }
        return true
    }
}
