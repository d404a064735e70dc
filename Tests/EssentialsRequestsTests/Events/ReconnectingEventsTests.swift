import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("Events of a stream that is connected again", .timeLimit(.minutes(5)))
struct ReconnectingEventsTests {
    private let fields: HTTPFields = [.contentType: "Text/Event-Stream; charset=utf-8"]
    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let environment: MutableEnvironment
    private let service: HTTPDataRequestService

    init() throws {
        environment = MutableEnvironment(
            EnvironmentSnapshot(baseURL: try RequestURL("https://api.test/v1/")))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        configuration.retry = .standard
        service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
    }

    private var sentIDs: [String?] { transport.requests.map { $0.headerFields["Last-Event-ID"] } }

    /// The texts of the events and the failure at the end. The clock is moved over the given number of pauses.
    private func read(
        _ request: DataRequest = DataRequest(.get, "events"), through decorator: (any DataRequestService)? = nil,
        pauses: Int = 0, maximumSize: Int = 1 << 20
    ) async -> ([String], RequestFailure?) {
        let requests: any DataRequestService = decorator ?? service
        let events = requests.events(of: request, maximumSize: maximumSize)
        let task = Task { () async -> ([String], RequestFailure?) in
            var texts: [String] = []
            do throws(RequestFailure) {
                for try await event in events { texts.append(event.data) }
                return (texts, nil)
            } catch {
                return (texts, error)
            }
        }
        for _ in 0..<pauses {
            await clock.waitForSleepers(count: 1)
            clock.advanceToNextDeadline()
        }
        return await task.value
    }

    @Test("It continues after the last id when the stream ends or breaks, until the server says 204")
    func reconnects() async throws {
        transport.on(.get, "/v1/events")
            .answer(pieces: ["id: 1\ndata: a\n\nid: 2\n\n", .failure(.interrupted)], headerFields: fields)
            .thenAnswer(pieces: ["id: 3\ndata: b\n\ndata: cut"], headerFields: fields)
            .thenFail(.connection)
            .thenAnswer(.serviceUnavailable)
            .thenAnswer(pieces: ["data: c\n\n"], headerFields: fields)
            .thenAnswer(.noContent)
        let (texts, failure) = await read(pauses: 5)
        #expect(texts == ["a", "b", "c"])
        #expect(failure == nil)
        // The last events had no id.
        #expect(sentIDs == [nil, "2", "3", "3", "3", nil])
        let request = try #require(transport.requests.first)
        #expect(request.headerFields[.accept] == "text/event-stream")
        #expect(request.headerFields[.cacheControl] == "no-store")
        #expect(request.options.delivery == .streamed && request.options.idleTimeout == nil)
    }

    @Test("The pause is the last time that the server named, also without data")
    func pause() async throws {
        transport.on(.get, "/v1/events")
            .answer(pieces: ["retry: 10000\ndata: a\n\nretry: 60000\n\nretry: 1\n"], headerFields: fields)
            .thenAnswer(.noContent)
        let events = service.events(of: DataRequest(.get, "events"))
        let task = Task { for try await _ in events {} }
        await clock.waitForSleepers(count: 1)
        let pause = try #require(clock.nextDeadline.map { clock.now.duration(to: $0) })
        #expect(pause >= .seconds(60) && pause < .seconds(90))
        clock.advanceToNextDeadline()
        try await task.value
    }

    @Test("A stream without credentials goes on after a logout, with the id of the last event")
    func logoutOfNobody() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["id: 1\ndata: a\n\n"], headerFields: fields)
            .thenAnswer(.noContent)
        let events = service.events(of: DataRequest(.get, "events"))
        let task = Task { for try await _ in events {} }
        await clock.waitForSleepers(count: 1)
        await service.clearAuthorization()
        clock.advanceToNextDeadline()
        try await task.value
        #expect(sentIDs == [nil, "1"])
    }

    @Test("A stream with a cookie, or with a field that names its user, ends with a logout", arguments: [true, false])
    func logoutOfSession(isCookie: Bool) async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["id: 1\ndata: a\n\n"], headerFields: fields)
            .thenAnswer(.noContent)
        var request = DataRequest(.get, "events")
        request.headerFields[isCookie ? "Cookie" : "X-Session-Token"] = "session=ada"
        let events = service.events(of: request)
        let task = Task { () -> RequestFailure? in
            do throws(RequestFailure) {
                for try await _ in events {}
                return nil
            } catch { return error }
        }
        await clock.waitForSleepers(count: 1)
        await service.clearAuthorization()
        clock.advanceToNextDeadline()
        #expect(await task.value?.reason == .authorization)
        #expect(transport.requestCount == 1)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// Changes the environment before it passes the second request on.
    private struct Changing: DataRequestDecorator {
        let next: any DataRequestService
        let count: Counter
        let change: @Sendable () -> Void

        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
            if count.next() == 2 { change() }
            return try await next.send(request)
        }
    }

    @Test("An environment that changes on the way to the service never gets the request")
    func changeOnTheWay() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["id: 1\ndata: a\n\n"], headerFields: fields)
        transport.on(.get, "/v2/events").answer(pieces: ["data: b\n\n"], headerFields: fields)
        let other = EnvironmentSnapshot(baseURL: try RequestURL("https://other.test/v2/"))
        let changing = Changing(next: service, count: Counter()) { [environment] in environment.set(other) }
        let (texts, failure) = await read(through: changing, pauses: 1)
        #expect(texts == ["a"])
        #expect(failure?.reason == .hostRefused)
        #expect(transport.requests.map(\.url.path) == ["/v1/events"])
    }

    @Test("The request's own fields and its own last id are sent by the first connection")
    func ownFields() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["data: a\n\n"], headerFields: fields).thenAnswer(.noContent)
        var request = DataRequest(.get, "events")
        request.headerFields = [.accept: "text/event-stream, */*;q=0.1"]
        request.headerFields["Last-Event-ID"] = "9"
        #expect(await read(request, pauses: 1).0 == ["a"])
        #expect(sentIDs == ["9", nil])
        #expect(transport.requests[0].headerFields[.accept] == "text/event-stream, */*;q=0.1")
    }

    @Test(
        "It continues after the last id when a refresh of its token has failed for a while, and ends with a rejection")
    func tokens() async throws {
        let provider = CountingProvider { number, _ in
            switch number {
            case 1: return try AccessToken("t1", expiresIn: .milliseconds(1))
            case 2: throw RequestFailure(.connection, "The network is away.")
            case 3: return try AccessToken("t2", expiresIn: .milliseconds(1))
            default: throw AccessTokenRejection()
            }
        }
        service.setAuthorization(.tokens(provider, clock: clock.requestClock))
        transport.on(.get, "/v1/events")
            .answer(pieces: ["id: 1\ndata: a\n\n", .failure(.interrupted)], headerFields: fields)
            .thenAnswer(pieces: ["id: 2\ndata: b\n\n", .failure(.interrupted)], headerFields: fields)
        let events = service.events(of: DataRequest(.get, "events"))
        let task = Task { () async throws -> [String] in
            var texts: [String] = []
            do throws(RequestFailure) {
                for try await event in events { texts.append(event.data) }
            } catch {
                #expect(error.underlying is AccessTokenRejection)
            }
            return texts
        }
        for calls in 1...3 {
            while provider.calls < calls { await Task.yield() }
            // The timer of a call may still be there, which ends in 30 seconds. A pause is over after at most nine.
            while clock.nextDeadline.map({ clock.now.duration(to: $0) >= .seconds(30) }) ?? true { await Task.yield() }
            clock.advanceToNextDeadline()
        }
        #expect(try await task.value == ["a", "b"])
        #expect(sentIDs == [nil, "1"])
    }

    @Test("A refusal, another type and an event that is too large end it with their failure, and nothing follows")
    func failures() async throws {
        transport.on(.get, "/v1/none").answer(.notFound)
        transport.on(.get, "/v1/html").answer(pieces: ["x"], headerFields: [.contentType: "text/html"])
        transport.on(.get, "/v1/large").answer(pieces: ["data: 123456789\n\n"], headerFields: fields)
        for (path, reason) in [
            ("none", RequestFailure.Reason.status), ("html", .protocolViolation), ("large", .tooLarge),
            ("..", .invalidRequest),
        ] {
            var iterator = service.events(of: DataRequest(.get, path), maximumSize: 10).makeAsyncIterator()
            let failure = await #expect(throws: RequestFailure.self) { try await iterator.next() }
            #expect(failure?.reason == reason)
            #expect(try await iterator.next() == nil)
        }
        #expect(transport.requests.count == 3)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A cancellation during a pause, and one before the first event, end it as cancelled")
    func cancelled() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["data: a\n\n"], headerFields: fields)
        let events = service.events(of: DataRequest(.get, "events"))
        let task = Task { for try await _ in events {} }
        await clock.waitForSleepers(count: 1)
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            for try await _ in events {}
        }
        early.cancel()
        let other = await #expect(throws: RequestFailure.self) { try await early.value }
        #expect(other?.reason == .cancelled)
        #expect(transport.requests.count == 1)
    }

    @Test(
        "After a login during a pause it is another stream: with the credentials, and without the id of the last event")
    func login() async throws {
        transport.on(.get, "/v1/events")
            .answer(pieces: ["id: 1\ndata: a\n\n"], headerFields: fields)
            .thenAnswer(pieces: ["id: 2\ndata: b\n\n"], headerFields: fields)
            .thenAnswer(pieces: ["id: 3\ndata: c\n\n"], headerFields: fields)
            .thenAnswer(.noContent)
        let events = service.events(of: DataRequest(.get, "events"))
        let task = Task { () async throws -> [String] in
            var texts: [String] = []
            for try await event in events { texts.append(event.data) }
            return texts
        }
        for pause in 0..<3 {
            await clock.waitForSleepers(count: 1)
            if pause == 1 { service.setAuthorization(try .bearer("ada")) }
            clock.advanceToNextDeadline()
        }
        #expect(try await task.value == ["a", "b", "c"])
        #expect(sentIDs == [nil, "1", nil, "3"])
        let sent = transport.requests.map { $0.headerFields[.authorization] }
        #expect(sent == [nil, nil, "Bearer ada", "Bearer ada"])
    }

    @Test("A logout and a change of the environment end it, and it sends nothing for somebody else")
    func identity() async throws {
        transport.on(.get, "/v1/events").answer(pieces: ["id: 1\ndata: a\n\n"], headerFields: fields)
        for isLogout in [true, false] {
            service.setAuthorization(try .bearer("secret"))
            let events = service.events(of: DataRequest(.get, "events"))
            let task = Task { for try await _ in events {} }
            await clock.waitForSleepers(count: 1)
            let count = transport.requests.count
            if isLogout {
                await service.clearAuthorization()
            } else {
                environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://other.test/v1/")))
            }
            clock.advanceToNextDeadline()
            let failure = await #expect(throws: RequestFailure.self) { try await task.value }
            #expect(failure?.reason == (isLogout ? .authorization : .hostRefused))
            #expect(transport.requests.count == count)
        }
    }
}
