import EssentialsLocator

protocol ToldPart: AnyObject, Sendable {}

protocol ToldTool: AnyObject, Sendable {}

/// Writes down that it was told of the end, and that it went.
final class Told: ToldPart, ToldTool, Closeable {
    let name: String
    private let log: Recorder<String>
    private let gate: AsyncGate?

    init(_ name: String, _ log: Recorder<String>, waitingFor gate: AsyncGate? = nil) {
        self.name = name
        self.log = log
        self.gate = gate
    }

    deinit { log.append("\(name) is gone") }

    func close() async {
        await gate?.pass()
        log.append(name)
    }
}

/// A value that wants to be told.
struct ToldValue: Closeable {
    let log: Recorder<String>
    func close() async { log.append("value") }
}

/// Gives others the opportunity to come to where they wait, which nothing shows. A turn takes a good part of a second where
/// a crowd of tests shares two threads, so that there are no more of them than anything here has steps.
func settle() async {
    for _ in 0..<12 { await Task.yield() }
}
