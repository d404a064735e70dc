import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import TestTools

/// The server of the test. Each response names the user for whom it was made, and sets a cookie that names the
/// credentials.
///
/// It responds at once, or holds a response until the test releases it, in any order. It has a version of each path for
/// each user and tenant. Their entity tags are equal texts, so the server does not notice a tag that belongs to another
/// user.
final class IdentityTransport: Transport {
    /// How often something happens, in percent.
    struct Habits: Sendable {
        var holds = 30
        var unchanged = 50
        var refuses = 4
        var fails = 6
        var isUnreadable = 4
    }

    struct Reply: Sendable {
        var status = 200
        var fields = HTTPFields()
        var body = Data()
        /// The number of the item that was made for the request.
        var number = 0
        var path = ""
        /// The stream of events; `nil` for all other responses.
        var stream: IdentityStream?
    }

    private struct Held {
        let reply: Reply
        let continuation: CheckedContinuation<Reply?, Never>
    }

    private struct Version: Hashable {
        let path: String
        let origin: String
        let tenant: String
        let language: String
        let user: String
    }

    private struct State {
        var random: SeededNumbers
        var habits: Habits
        var held: [Int: Held] = [:]
        var departed: Set<Int> = []
        var versions: [Version: Int] = [:]
        var streams: [IdentityStream] = []
        var isDown = false
    }

    static let madeField = HTTPField.Name("X-Made")!

    private let model: IdentityModel
    private let state: Mutex<State>

    init(_ model: IdentityModel, seed: UInt64, _ habits: Habits) {
        self.model = model
        state = Mutex(State(random: SeededNumbers(state: seed ^ 0x5eed), habits: habits))
    }

    // MARK: For the test

    /// The paths of requests whose responses are held.
    var heldPaths: Set<String> { state.withLock { Set($0.held.values.map(\.reply.path)) } }
    var heldCount: Int { state.withLock { $0.held.count } }
    /// The streams that are open.
    var streams: [IdentityStream] {
        state.withLock { state in
            state.streams.removeAll { $0.isOver }
            return state.streams
        }
    }

    /// Releases one of the held responses. Returns its path.
    @discardableResult
    func release(_ choose: (Int) -> Int) -> String? {
        let held = state.withLock { state -> Held? in
            guard !state.held.isEmpty else { return nil }
            let number = state.held.keys.sorted()[choose(state.held.count)]
            return state.held.removeValue(forKey: number)
        }
        guard let held else { return nil }
        model.answered(held.reply.number)
        held.continuation.resume(returning: held.reply)
        return held.reply.path
    }

    /// Makes the server unreachable: held requests fail, and so do all others until it is up again.
    func setDown(_ isDown: Bool) {
        let held = state.withLock { state in
            state.isDown = isDown
            defer { if isDown { state.held = [:] } }
            return isDown ? Array(state.held.values) : []
        }
        for held in held { held.continuation.resume(returning: nil) }
    }

    // MARK: Transport

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        if state.withLock({ $0.isDown }) { throw Self.failure(.connection, request) }
        let arrival = await arrival(of: request)
        let (item, environments) = model.arrived(arrival)
        let tag = request.headerFields[.ifNoneMatch]
        let (reply, isHeld) = state.withLock { state in
            let reply = Self.reply(to: arrival, item, environments, tag, model, &state)
            return (reply, state.random.percent < state.habits.holds)
        }
        let sent: Reply?
        if isHeld {
            sent = await hold(reply)
        } else {
            model.answered(reply.number)
            sent = reply
        }
        guard let sent else {
            let isDown = state.withLock { $0.isDown }
            throw Self.failure(isDown ? .connection : .cancelled, request)
        }
        let head = HTTPResponse(status: .init(code: sent.status), headerFields: sent.fields)
        if let stream = sent.stream {
            state.withLock { $0.streams.append(stream) }
            return TransportResponse(head, body: ResponseBody(source: stream))
        }
        return TransportResponse(head, body: ResponseBody(sent.body))
    }

    func shutdown() async {}

    private static func failure(_ reason: RequestFailure.Reason, _ request: TransportRequest) -> RequestFailure {
        RequestFailure(reason, "The server of the test did not respond.", host: request.url.origin.host.text)
    }

    private func hold(_ reply: Reply) async -> Reply? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.departed.remove(reply.number) != nil || state.isDown { return true }
                    state.held[reply.number] = Held(reply: reply, continuation: continuation)
                    return false
                }
                model.noteActivity()
                if isOver { continuation.resume(returning: nil) }
            }
        } onCancel: {
            let held = state.withLock { state -> Held? in
                if let held = state.held.removeValue(forKey: reply.number) { return held }
                state.departed.insert(reply.number)
                return nil
            }
            model.noteActivity()
            held?.continuation.resume(returning: nil)
        }
    }

    private func arrival(of request: TransportRequest) async -> IdentityModel.Arrival {
        var arrival = IdentityModel.Arrival()
        arrival.method = request.method.rawValue
        arrival.origin = request.url.origin.description
        arrival.path = String(request.url.path.dropFirst("/v1/".count))
        let fields = request.headerFields
        arrival.tenant = fields[TestedEnvironment.tenantField] ?? ""
        arrival.language = fields[.acceptLanguage] ?? ""
        arrival.token = fields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        arrival.cookie = fields[.cookie].map { String($0.dropFirst("who=".count)) }
        arrival.lastEventID = fields[HTTPField.Name("Last-Event-ID")!]
        var body = Data()
        switch request.body.content {
        case .none: break
        case .bytes(let data): body = data
        case .stream(_, _, let open):
            let source = open()
            while let piece = try? await source() { body.append(piece) }
        }
        arrival.body = MadeItem(json: body)
        return arrival
    }

    private static func reply(
        to arrival: IdentityModel.Arrival, _ item: MadeItem, _ environments: Set<Int>, _ tag: String?,
        _ model: IdentityModel, _ state: inout State
    ) -> Reply {
        var reply = Reply(number: item.number, path: arrival.path)
        reply.fields[.setCookie] = "who=\(arrival.token ?? "none"); Path=/; Max-Age=1000000"
        reply.fields[madeField] = "\(item.number)"
        let fate = state.random.percent
        let habits = state.habits
        if fate < habits.refuses { return reply.with(status: 401) }
        if fate < habits.refuses + habits.fails { return reply.with(status: 503) }
        if arrival.path == "events" {
            reply.fields[.contentType] = "text/event-stream"
            reply.stream = IdentityStream(model, environments, arrival.token)
            return reply
        }
        if fate < habits.refuses + habits.fails + habits.isUnreadable {
            reply.fields[.contentType] = "text/html"
            reply.body = Data("<p>Accept the terms</p>".utf8)
            return reply
        }
        let version = Version(
            path: arrival.path, origin: arrival.origin, tenant: arrival.tenant, language: arrival.language,
            user: TestedToken.user(of: arrival.token))
        let isUnchanged = state.random.percent < habits.unchanged
        let number = state.versions[version, default: 1]
        if arrival.method == "GET", tag == "\"\(number)\"", isUnchanged { return reply.with(status: 304) }
        state.versions[version] = isUnchanged ? number : number + 1
        reply.fields[.eTag] = "\"\(state.versions[version] ?? 1)\""
        reply.fields[.contentType] = "application/json"
        let rules = ["", "", "max-age=20", "private, max-age=60", "no-cache", "max-age=0"]
        let rule = rules[Int(state.random.next() % UInt64(rules.count))]
        if !rule.isEmpty { reply.fields[.cacheControl] = rule }
        reply.body = item.json
        if arrival.method != "GET", state.random.percent < 30 {
            reply.body = Data()
            return reply.with(status: 204)
        }
        return reply
    }
}

extension IdentityTransport.Reply {
    /// A response without a body that has another status.
    fileprivate func with(status: Int) -> Self {
        var reply = self
        reply.status = status
        return reply
    }
}

extension SeededNumbers {
    /// A number from 0 to 99.
    var percent: Int {
        mutating get { Int(next() % 100) }
    }
}
