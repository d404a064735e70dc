import EssentialsHTTP
import EssentialsTools
import EssentialsTransport

/// One connection to a server. Commands are sent as they come, without waiting for the replies to earlier ones; replies are
/// matched with them in order.
final class RedisConnection: LinkReceiver {
    typealias Reply = Result<RESPValue, RedisFailure>

    /// A command without a reply.
    fileprivate struct Waiter: Sendable {
        let sentAt: Duration
        let bytes: Int
        let receive: @Sendable (Reply) -> Void
    }

    fileprivate struct State {
        /// `nil` before the connection is open.
        var link: (any ByteLink)?
        var waiters = Fifo<Waiter>()
        /// The bytes of the commands without a reply.
        var bytes = 0
        var heardAt: Duration
        /// When the newest command with a reply was sent.
        var answeredAt: Duration
        var ending: RedisFailure?
    }

    /// What happens on the connection. The functions are called on the link's thread, and must not block.
    struct Events: Sendable {
        /// Everything that the server had sent before it executed a command has been delivered. The command was sent at this
        /// time.
        var caughtUp: @Sendable (Duration) -> Void = { _ in }
        /// The server has sent a message that no command has asked for.
        var pushed: @Sendable ([RESPValue]) -> Void = { _ in }
        /// The connection has ended. It is called before the commands without a reply fail.
        var ended: @Sendable () -> Void = {}
    }

    /// How many commands may wait for their replies.
    static let maximumWaiters = 10_000
    /// How many bytes these commands may have.
    static let maximumBytes = 32 << 20
    /// How often the server is asked whether it is there and takes changes.
    static let interval = Duration.seconds(1)
    /// After how much silence the connection is given up.
    static let deadSilence = Duration.seconds(2)
    /// After how much time without its reply a command ends the connection, although the server is not silent.
    static let deadReply = Duration.seconds(10)
    private static let replicaText = "The server has become a replica."

    /// Provided with the reason when the connection has ended.
    let ended = OneShot<RedisFailure>()
    private let clock: RequestClock
    private let events: Events
    private let state: Mutex<State>
    /// Used by the link's thread alone, so it is never contended.
    private let machine = Mutex(RESPMachine(limits: limits))

    /// What a server may send: somewhat more than a body and a list of responses, which are the largest values.
    private static let limits = {
        var limits = RESPLimits()
        limits.bulkBytes = 2 << 20
        limits.messageBytes = 16 << 20
        return limits
    }()

    init(_ events: Events, clock: RequestClock) {
        (self.events, self.clock) = (events, clock)
        let now = clock.now
        state = Mutex(State(heardAt: now, answeredAt: now))
    }

    /// Takes over the link that has this receiver.
    func attach(_ link: any ByteLink) {
        let hasEnded = state.withLock { state in
            guard state.ending == nil else { return true }
            state.link = link
            state.heardAt = clock.now
            return false
        }
        if hasEnded { link.close() }
    }

    // MARK: Commands

    /// Sends a command.
    ///
    /// - Parameters:
    ///   - limit: If an earlier command has waited as long for its reply, nothing is sent. `nil` means no limit.
    ///   - receive: Called once, with the reply on the link's thread, or with a failure on any thread. It must not block.
    func send(
        _ command: RedisCommand, within limit: Duration? = nil, _ receive: @escaping @Sendable (Reply) -> Void
    ) {
        let now = clock.now
        let refusal = state.withLock { state -> RedisFailure? in
            if let ending = state.ending { return ending }
            guard let link = state.link else { return .unavailable }
            if let limit, let first = state.waiters.first, now - first.sentAt >= limit { return .late }
            // The link takes bytes in the order of the waiters, because both are added under the lock.
            guard state.waiters.count < Self.maximumWaiters, state.bytes + command.bytes.count <= Self.maximumBytes,
                link.send(command.bytes)
            else { return .full }
            state.bytes += command.bytes.count
            state.waiters.append(Waiter(sentAt: now, bytes: command.bytes.count, receive: receive))
            return nil
        }
        if let refusal { receive(.failure(refusal)) }
    }

    /// Sends a command, and waits for its reply.
    func reply(to command: RedisCommand) async -> Reply {
        await withCheckedContinuation { continuation in send(command) { continuation.resume(returning: $0) } }
    }

    // MARK: LinkReceiver

    func linkReceived(_ bytes: UnsafeRawBufferPointer) {
        let now = clock.now
        var messages: [RESPMessage] = []
        let damage = machine.withLock { machine -> RESPFailure? in
            do throws(RESPFailure) {
                try machine.read(bytes) { messages.append($0) }
                return nil
            } catch {
                return error
            }
        }
        let replies = messages.reduce(0) { count, message in if case .reply = message { count + 1 } else { count } }
        let waiters = state.withLock { state in
            state.heardAt = now
            let waiters = state.pop(replies)
            if let last = waiters.last { state.answeredAt = last.sentAt }
            return waiters
        }
        var isReplica = false
        var next = waiters.makeIterator()
        for message in messages {
            switch message {
            case .push(let values): events.pushed(values)
            case .reply(let value):
                guard let waiter = next.next() else { return end(.lost("The server has replied to no command.")) }
                if case .error(let error) = value {
                    isReplica = isReplica || ["READONLY", "MASTERDOWN"].contains(error.code)
                    waiter.receive(.failure(.refused(error)))
                } else {
                    waiter.receive(.success(value))
                }
            }
        }
        if let damage { return end(.lost(damage.description)) }
        if let last = waiters.last { events.caughtUp(last.sentAt) }
        if isReplica { end(.lost(Self.replicaText)) }
    }

    func linkSentAll() {}

    func linkEnded(_ failure: RequestFailure) { end(.lost(failure.message)) }

    // MARK: The end

    /// Closes the connection. The commands without a reply fail.
    func end(_ reason: RedisFailure) {
        let (isFirst, link, waiters) = state.withLock { state -> (Bool, (any ByteLink)?, [Waiter]) in
            guard state.ending == nil else { return (false, nil, []) }
            state.ending = reason
            return (true, state.link.take(), state.pop(state.waiters.count))
        }
        guard isFirst else { return }
        link?.close()
        events.ended()
        for waiter in waiters { waiter.receive(.failure(reason)) }
        ended.provide(reason)
    }

    /// Asks the server every second whether it is there and takes changes, and ends the connection if it does not. It returns
    /// after the end of the connection, or when the task is cancelled.
    func watch() async {
        var askedAt = clock.now
        while true {
            let now = clock.now
            let (heardAt, answeredAt, oldest, hasEnded) = state.withLock {
                ($0.heardAt, $0.answeredAt, $0.waiters.first?.sentAt, $0.ending != nil)
            }
            guard !hasEnded else { return }
            if now - heardAt >= Self.deadSilence {
                return end(.lost("The server was silent for \(Self.deadSilence)."))
            }
            if let oldest, now - oldest >= Self.deadReply {
                return end(.lost("The server has not replied to a command for \(Self.deadReply)."))
            }
            let isAnswered = askedAt <= answeredAt
            if isAnswered, now - askedAt >= Self.interval {
                askedAt = now
                send(RedisCommand("HELLO")) { [weak self] reply in
                    guard case .success(let value) = reply, RedisGreeting(value).isReplica else { return }
                    self?.end(.lost(Self.replicaText))
                }
            }
            let next = isAnswered ? askedAt + Self.interval : min(heardAt + Self.deadSilence, now + Self.interval)
            guard (try? await clock.sleep(until: max(next, now + .milliseconds(1)))) != nil else { return }
        }
    }
}

extension RedisConnection.State {
    /// Removes the oldest waiters.
    fileprivate mutating func pop(_ count: Int) -> [RedisConnection.Waiter] {
        var popped: [RedisConnection.Waiter] = []
        popped.reserveCapacity(min(count, waiters.count))
        while popped.count < count, let waiter = waiters.popFirst() {
            bytes -= waiter.bytes
            popped.append(waiter)
        }
        return popped
    }
}
