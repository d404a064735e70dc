internal import Foundation

/// Where this package's programs are.
enum ProgramFiles {
    /// A program built together with the runner.
    static func beside(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// A program built with the Swift runtime inside, in the scratch directory `static` within the runner's own.
    static func linkedStatically(_ name: String) -> URL {
        let configuration = directory.lastPathComponent
        let triple = directory.deletingLastPathComponent()
        return triple.deletingLastPathComponent()
            .appendingPathComponent("static/\(triple.lastPathComponent)/\(configuration)/\(name)")
    }

    private static var directory: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
