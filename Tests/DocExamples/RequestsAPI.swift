// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import Testing

@testable import EssentialsRequests

private struct User: Codable, Sendable, Equatable {
    var name = ""
    var pictureURL = ""
    var filmURL = ""
}
private struct NewUser: Codable, Sendable { var name = "" }
private struct Report: Codable, Sendable {}
private struct Price: Codable, Sendable, Equatable {}
private final class Counter: Sendable { func add(_ count: Int) {} }

private enum Shop: APIService {
    static let baseURL: RequestBase = "https://shop.example.com/v1/"
}
private enum Users: Endpoint {
    typealias Parent = Shop
    static let path: RequestPath = "users"
    static let getAll: APIRequest<[User]> = request(.get)
    static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
    static func find(role: String) -> APIRequest<[User]> { request(.get) { RequestQuery { ("role", role) } } }
    static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }
}
private enum Exports: APIService { static let all: APIRequest<Data> = request(.get, "exports") }
private enum Prices: APIService { static let current: APIRequest<Price> = request(.get, "prices") }

private let app = Application()
private let show = app
private let (locator, counter) = (ServiceLocator(name: "app"), Counter())
private let id = 7
private let (tags, user) = (["new"], User())
private let token = ""
private var requests: HTTPDataRequestService { given() }
private var request: DataRequest { get { given() } set {} }

// API/CancellableToken.swift
private func cancellableTokenExample() async throws {
    let token = requests.get("report", deserializeTo: Report.self) { result in show(result) }
    token.cancel()          // the handler receives the failure `cancelled`
}

// API/DataRequestDecorator.swift
private func dataRequestDecoratorExample() async throws {
    struct Counting: DataRequestDecorator {
        let next: any DataRequestService
        let counter: Counter

        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
            counter.add(1)
            return try await next.send(request)
        }
    }
}

// API/ResponseCaching.swift
private func updatesExample() async throws {
    let response = try await requests.send(DataRequest(.get, "films"))
    show(response)
    for await newer in requests.updates(of: response) { show(newer) }
}

// Request/ResponseIdentity.swift
private func responseIdentityExample() async throws {
    let shown = try await requests.send(DataRequest(.get, "films"))
    let again = try await requests.send(DataRequest(.get, "films"))
    if again.identity?.body != shown.identity?.body { show(again) }
}

// API/DataRequestService+Definitions.swift
private func dataRequestServiceDefinitionsExample() async throws {
    let user = try await requests.send(Users.get(id: 7))                // User
    try await requests.send(Users.delete(id: 7))                        // Void
    let both = try await requests.response(to: Users.get(id: 7))        // model and response
    let bytes = try await requests.data(of: Users.get(id: 7))           // undecoded
    let stream = try await requests.stream(of: Exports.all)             // at the reader's pace
    use(user, both, bytes, stream)
}

// API/DataRequestService+JSON.swift
private func dataRequestServiceJSONExample() async throws {
    let user: User = try await requests.post("users", body: ["name": "Ada", "tags": ["a", 1, nil]])
    use(user)
}

// API/DataRequestService+Values.swift
private func dataRequestServiceValuesExample() async throws {
    for try await price in requests.values(of: Prices.current, every: .seconds(30)) { show(price) }
}

// API/DataRequestService.swift
private func dataRequestServiceExample() async throws {
    let requests = try locator.resolve((any DataRequestService).self)
    let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
    let created: User = try await requests.post("users", body: NewUser(name: "Ada"))
    try await requests.delete("users/7")

    let token = requests.get("users/1", deserializeTo: User.self, completionQueue: .main) { result in show(result) }
    token.cancel()
    use(users, created)
}

// Service/HTTPDataRequestService+AnyServer.swift
private func anyServerExample(transport: any Transport) async throws {
    try locator.registerLazy((any DataRequestService).self, named: "any server") { _ in
        HTTPDataRequestService.forAnyServer(over: transport)
    }
    let open = try locator.resolve((any DataRequestService).self, named: "any server")
    let picture: Data = try await open.get(user.pictureURL)
    use(picture)
}

private struct Film: Codable, Sendable { var title = "M" }
private struct Session: Codable, Sendable {}

// API/DataRequestService+Methods.swift
private func postExample() async throws {
    let film: Film = try await requests.post("films", body: ["title": "M", "year": 1931])  // JSON
    let session: Session = try await requests.post("login", body: .parameters(["user": "ada"], as: .form))
    let copy: Film = try await requests.post("films/7/copies")
    use(film, session, copy)
}

// API/DataRequestService+Callbacks.swift
private func handlerExample(_ film: Film) {
    requests.send(.post("films", body: film), deserializeTo: Film.self) { result in show(result) }
}
