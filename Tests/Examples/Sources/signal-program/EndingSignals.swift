import Dispatch
import Glibc

/// The signals that ask a program to end: SIGINT, which Ctrl-C sends, and
/// SIGTERM.
///
/// After the call, these signals no longer end the process.
func endingSignals() -> AsyncStream<Int32> {
    let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
    // A source can be cancelled on any thread.
    nonisolated(unsafe) let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
            signal: number, queue: .global())
        source.setEventHandler { continuation.yield(number) }
        source.resume()
        return source
    }
    continuation.onTermination = { _ in
        for source in sources { source.cancel() }
    }
    return signals
}
