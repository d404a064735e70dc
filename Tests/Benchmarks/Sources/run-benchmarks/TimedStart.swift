internal import Foundation

/// A program that has run to its end, with its start time.
struct TimedStart {
    let status: Int32
    let standardOutput: Data
    /// The time just before the process was created, on the clock `CLOCK_MONOTONIC` in nanoseconds.
    let began: UInt64

    /// Runs a program directly, because Foundation's `Process` and a shell take longer than the measured time.
    ///
    /// The output must fit into a pipe's buffer. A program that takes longer than `seconds` is killed.
    static func run(_ program: String, _ arguments: [String], seconds: Double) throws(RunnerError) -> TimedStart {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw RunnerError("pipe failed: \(errno)") }
        // No other process may hold the writing end, otherwise reading would not end with the program.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        let vector = ([program] + arguments).map { strdup($0) } + [nil]
        let environment = ChildProcess.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (vector + environment).forEach { free($0) } }
        var child: pid_t = 0
        let began = DispatchTime.now().uptimeNanoseconds
        let failure = posix_spawn(&child, program, &actions, nil, vector, environment)
        close(ends[1])
        guard failure == 0 else { throw RunnerError("cannot run \(program): \(failure)") }
        var hangUp = pollfd(fd: ends[0], events: 0, revents: 0)
        var ready = poll(&hangUp, 1, Int32(seconds * 1000))
        while ready < 0 && errno == EINTR { ready = poll(&hangUp, 1, Int32(seconds * 1000)) }
        let hasEnded = ready == 1
        if !hasEnded { kill(child, SIGKILL) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard hasEnded else { throw RunnerError("took longer than \(Int(seconds)) s and was killed") }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let length = read(ends[0], &bytes, bytes.count)
        return TimedStart(status: status, standardOutput: Data(bytes.prefix(max(0, length))), began: began)
    }
}
