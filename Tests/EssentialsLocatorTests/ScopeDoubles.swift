import EssentialsLocator

protocol NotifiedPart: AnyObject, Sendable {}

protocol NotifiedTool: AnyObject, Sendable {}

/// Records that it was notified and that it was released.
final class Notified: NotifiedPart, NotifiedTool, Closeable {
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

/// A value that is `Closeable`.
struct NotifiedValue: Closeable {
    let log: Recorder<String>
    func close() async { log.append("value") }
}

/// Lets other tasks run until they wait, which no state shows. A turn may take a good part of a second when many tests
/// share two threads, so there are only as many turns as the longest sequence needs.
func settle() async {
    for _ in 0..<12 { await Task.yield() }
}
