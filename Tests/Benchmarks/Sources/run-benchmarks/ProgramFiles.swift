internal import Foundation

/// The paths of this package's programs.
enum ProgramFiles {
    /// A program that was built together with the runner.
    static func beside(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// A program with a statically linked Swift runtime, in the directory `static` within the
    /// runner's scratch directory.
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
