internal import Figures
internal import Glibc

/// A program of this package in the same directory.
struct ChildProgram {
    private let process: pid_t
    /// The program's standard input. The program ends when it is closed; -1 for none.
    private let input: Int32
    private let output: Int32

    /// The short standard output of a program.
    static func output(of name: String, _ arguments: [String]) throws(BenchmarkError) -> [UInt8] {
        let child = try ChildProgram(name, arguments, hasInput: false)
        let bytes = child.read { _ in false }
        guard child.end() == 0 else { throw BenchmarkError("\(name) failed") }
        return bytes
    }

    init(_ name: String, _ arguments: [String], hasInput: Bool) throws(BenchmarkError) {
        let outer = try Self.ends()
        let inner = hasInput ? try Self.ends() : [-1, -1]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, outer[1], 1)
        if hasInput { posix_spawn_file_actions_adddup2(&actions, inner[0], 0) }
        var words: [UnsafeMutablePointer<CChar>?] = ([name] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = Self.environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var process = pid_t()
        let status = posix_spawn(&process, Self.directory + name, &actions, nil, &words, &variables)
        close(outer[1])
        if hasInput { close(inner[0]) }
        guard status == 0 else {
            close(outer[0])
            if hasInput { close(inner[1]) }
            throw BenchmarkError("cannot run \(name), which is to be built beside this program: \(status)")
        }
        (self.process, input, output) = (process, inner[1], outer[0])
    }

    /// Reads until the output ends or is sufficient.
    func read(until isEnough: ([UInt8]) -> Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !isEnough(bytes), bytes.count < 1 << 20 {
            let count = Glibc.read(output, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// Closes the program's input, waits for its end, and returns its status.
    func end() -> Int32 {
        if input >= 0 { close(input) }
        close(output)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// A pipe that other programs do not inherit.
    private static func ends() throws(BenchmarkError) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchmarkError("no pipe: \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    private static var directory: String {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(text[...(text.lastIndex(of: "/") ?? text.startIndex)])
    }

    /// This process's environment without proxies, because the load must stay on the machine.
    private static var environment: [String] {
        var variables: [String] = []
        var next = environ
        while let text = next.pointee {
            let variable = String(cString: text)
            if !variable.prefix(while: { $0 != "=" }).lowercased().hasSuffix("_proxy") { variables.append(variable) }
            next += 1
        }
        return variables
    }
}

/// The program `bench-server`, which responds at once and accepts large bodies. It ends when its input is closed.
struct ChildServer {
    let port: Int
    private let program: ChildProgram

    static func start() throws(BenchmarkError) -> ChildServer {
        let program = try ChildProgram("bench-server", [], hasInput: true)
        let end = Array("ready\n".utf8)
        let words = program.read { $0.suffix(end.count).elementsEqual(end) }
        let text = String(decoding: words, as: UTF8.self)
        guard text.hasPrefix("port="), let port = Int(text.dropFirst(5).prefix { $0 != "\n" }) else {
            _ = program.end()
            throw BenchmarkError("bench-server did not start")
        }
        return ChildServer(port: port, program: program)
    }

    func stop() { _ = program.end() }
}
