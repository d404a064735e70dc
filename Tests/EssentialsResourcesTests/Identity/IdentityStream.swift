import EssentialsHTTP
import EssentialsTools

/// A stream of events for the user who has opened it.
final class IdentityStream: ResponseBody.Source {
    private struct State {
        var chunks: [BodyChunk] = []
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let model: IdentityModel
    private let environments: Set<Int>
    private let token: String?
    private let state = Mutex(State())

    init(_ model: IdentityModel, _ environments: Set<Int>, _ token: String?) {
        (self.model, self.environments, self.token) = (model, environments, token)
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Sends an event that is made for this user.
    func push() {
        let item = model.makeEvent(for: environments, token)
        let text = "id: \(item.number)\ndata: \(String(decoding: item.json, as: UTF8.self))\n\n"
        change { $0.chunks.append(BodyChunk(text.utf8)) }
    }

    /// Ends the stream; its client connects again.
    func cancel() { change { $0.isOver = true } }

    private func change(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            return state.waiter.take()
        }
        model.noteActivity()
        waiter?.resume()
    }

    func next() async throws(RequestFailure) -> BodyChunk? {
        while true {
            let (chunk, isOver) = state.withLock { state -> (BodyChunk?, Bool) in
                if !state.chunks.isEmpty { return (state.chunks.removeFirst(), false) }
                return (nil, state.isOver)
            }
            if let chunk { return chunk }
            if isOver { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if !state.chunks.isEmpty || state.isOver { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                cancel()
            }
        }
    }
}
