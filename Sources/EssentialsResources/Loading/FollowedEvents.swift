import EssentialsHTTP
import EssentialsRequests

/// The connections of a subscription in one environment and for one account.
struct FollowedEvents: EventStreamSource {
    private let follower: EventFollower
    /// The first connection, until it is opened.
    private var first: EventConnection?

    init(_ follower: EventFollower, from first: EventConnection) {
        (self.follower, self.first) = (follower, first)
    }

    private var service: HTTPResourceService { follower.stream.service }
    private var core: ResourceCore { follower.stream.core }

    var clock: RequestClock { service.clock }

    mutating func connect(_ machine: inout EventStreamMachine) async throws(RequestFailure) -> DataResponse {
        try service.checkOpen()
        let connection = try nextConnection()
        let exchange = ResourceExchange(
            service: service, core: core, environment: connection.environment,
            configuration: service.effective(for: core))
        let request = try await request(of: exchange, lastEventID: machine.sentID)
        let response = try await exchange.transmit(request)
        connection.received(response)
        guard follower.isLive(connection) else { throw follower.supersede() }
        return response
    }

    private mutating func nextConnection() throws(RequestFailure) -> EventConnection {
        if let connection = first.take() { return connection }
        let environment = service.adoptEnvironment()
        // A connection of another account belongs to another stream, which the follower begins.
        let last = follower.connection
        guard last.map(service.isLive) != false, last?.precedesLogin(environment) != true else {
            throw follower.supersede()
        }
        let connection = EventConnection(environment, of: core.address, after: last)
        follower.opens(connection)
        return connection
    }

    func connected(isGap: Bool) {
        follower.status = .connected
        // From now on no events are missed, so a load that begins now gets current content.
        if isGap { follower.loadInvalid() }
    }

    func disconnected(missesEvents: Bool) {
        guard missesEvents, let connection = follower.connection, follower.isLive(connection) else { return }
        follower.invalidate()
    }

    func pause(for time: Duration) async throws {
        follower.status = .waiting
        try await clock.sleep(for: time)
    }

    private func request(
        of exchange: ResourceExchange, lastEventID id: String?
    ) async throws(RequestFailure) -> DataRequest {
        var fields: HTTPFields = [.accept: "text/event-stream", .cacheControl: "no-store"]
        fields["Last-Event-ID"] = id
        var request = try exchange.request(.init(method: .get, headerFields: fields))
        EventStreamRules.configure(&request, idleTimeout: nil)
        let configuration = exchange.configuration.values
        for mutation in configuration.mutations { try await ResourceExchange.apply(mutation, to: &request) }
        if request.errorModel == nil { request.errorModel = configuration.errorModel }
        return request
    }
}
