internal import Foundation

/// The service locator's benchmark, a program in the runner's directory. It has its own floors and needs no server.
enum LocatorBenchmark {
    /// Runs the program, which prints its own table. Returns false if it failed.
    static func run(isSmoke: Bool) throws(RunnerError) -> Bool {
        let program = ProgramFiles.beside("bench-locator").path
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw RunnerError("bench-locator is not built beside \(CommandLine.arguments[0])")
        }
        note("bench-locator")
        let result = try ChildProcess.run(program, isSmoke ? ["--smoke"] : [], seconds: 300)
        print(String(decoding: result.standardOutput, as: UTF8.self), terminator: "")
        return result.status == 0
    }
}
