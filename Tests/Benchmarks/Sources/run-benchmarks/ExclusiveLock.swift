internal import Foundation

/// Prevents two runs from measuring at the same time. The kernel releases the lock when the
/// process ends for any reason.
struct ExclusiveLock {
    private let descriptor: Int32

    /// Waits until no other run holds the lock.
    static func take() throws(RunnerError) -> ExclusiveLock {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("run-benchmarks.lock").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw RunnerError("cannot open \(path): \(errno)") }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return ExclusiveLock(descriptor: descriptor) }
        note("waiting for another run to end")
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw RunnerError("cannot lock \(path): \(errno)") }
        }
        return ExclusiveLock(descriptor: descriptor)
    }

    func release() {
        close(descriptor)
    }
}
