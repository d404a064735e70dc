import EssentialsRequests
import EssentialsTools

/// The replies of the cache and the server to an iteration that has called both at once, in the order of their arrival.
struct FetchReplies: Sendable {
    enum Reply: Sendable {
        case cache(LoadedModel?)
        case server(ServedModel)
    }

    /// There is one reply of each kind.
    private let replies = Mailbox(BoundedQueue<Reply>(limit: 2, .dropsNewest))

    /// Hands in a reply.
    func deliver(_ reply: Reply) { replies.put(reply) }

    /// The next reply; `nil` if the task is cancelled while it waits. Only one task may wait.
    func next() async -> Reply? {
        // A reply that has already arrived counts even in a cancelled task.
        if let reply = replies.change({ $0.take() }) { return reply }
        return await replies.next()
    }
}
