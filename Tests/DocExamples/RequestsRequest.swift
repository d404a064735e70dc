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
private struct Film: Codable, Sendable {}
private struct Draft: Codable, Sendable { static let empty = Draft() }

private let app = Application()
private let bar = app
private let (id, tenant) = (7, String?.none)
private let (tags, user, draft) = (["new"], User(), Draft?.none)
private let etag = ""
private let options = DownloadOptions()
private var requests: HTTPDataRequestService { given() }
private var response: DataResponse { given() }
private var request: DataRequest { get { given() } set {} }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var environment: MutableEnvironment { given() }
private var url: RequestURL { given() }

// Request/AcceptProfile.swift
private func acceptProfileExample() async throws {
    configuration.accept = .seCompatible
}

// Request/DataRequest+Body.swift
private func dataRequestBodyExample() async throws {
    request.body = .model(NewUser(name: "Ada"))
    request.body = ["name": "Ada", "tags": ["a", 1, nil]]  // JSON
    request.body = .parameters(["name": "Ada"], as: .form)
    request.body = try .file("/srv/films/1.mp4", type: MediaType("video/mp4"))
}

// Request/DataRequest+Body.swift
private func dataRequestBodyExample2() async throws {
    request.body = .json(["id": 1, "name": "Ada", "tags": ["a", nil]])
}

// Request/DataRequest+Methods.swift
private func dataRequestMethodsExample() async throws {
    let users = try await requests.model(of: .get("users", parameters: ["role": "admin"]), as: [User].self)
    try await requests.download(.get("films/1"), to: "/srv/films/1.mp4", options: options, progress: nil)
    use(users)
}

// Request/DataRequest+Pinned.swift
private func dataRequestPinnedExample() async throws {
    let current = environment.snapshot
    let url = try RequestURL("https://api.example.com/v1/users/7?fields=name")    // below its base URL
    let user = try await requests.model(of: .get("").pinned(to: current, at: url), as: User.self)
    use(user)
}

// Request/DataRequest.swift
private func dataRequestExample() async throws {
    var request = DataRequest(.get, "users", parameters: ["role": "admin"])
    request.headerFields[.ifNoneMatch] = etag
    request.headerFields["X-Tenant"] = "acme"
    request.expectedStatus = [200...200, 304...304]
    let response = try await requests.send(request)
    use(response)
}

// Request/DataRequest.swift
private func dataRequestTemplateExample(id: Int) {
    var request = DataRequest(.get, "users/\(id)")
    request.urlTemplate = "/users/{id}"
    use(request)
    use(
        RequestBuilder(.get, template: "users/{id}/posts", ["id": id])
    )
}

// Request/DataRequest.swift
private func dataRequestExample2() async throws {
    request.downloadProgress = ProgressReport(every: .milliseconds(50)) { bar.show($0.fraction ?? 0) }
    let film: Film = try await requests.model(of: request)
    use(film)
}

// Request/DataResponse.swift
private func dataResponseExample() async throws {
    let response = try await requests.send(DataRequest(.get, "report"))
    print(response.status.code, response.url?.redacted ?? "-", response.body.data?.count ?? 0)
}

// Request/DataResponse.swift
private func dataResponseExample2() async throws {
    let users = try await requests.response(to: DataRequest(.get, "users"), as: [User].self)
    print(users.model.count, users.response.headerFields[.eTag] ?? "-")
}

// Request/HTTPFields+Text.swift
private func hTTPFieldsTextExample2(tenant: String) async throws {
    try await requests.get("users", headerFields: HTTPFields(["X-Tenant": tenant, "X-Batch": "7"]))
}

// Request/DataRequest+AnyServer.swift
private func dataRequestAnyServerExample() async throws {
    let picture = try await requests.model(of: DataRequest(at: user.pictureURL), as: Data.self)
    try await requests.download(DataRequest(at: user.filmURL), to: "/srv/films/7.mp4")
    use(picture)
}

// Request/RequestBase.swift
private func requestBaseExample() async throws {
    request.base = "https://status.example.com/v2/"
}

// Request/RequestBase.swift
private func requestBaseExample2() async throws {
    var request = DataRequest(.get, "users/7")
    request.base = .pinned(to: environment.snapshot)
}

// Request/RequestBuilder.swift
private func requestBuilderExample() async throws {
    let request = try RequestBuilder(.post, "films")
        .header("X-Tenant", "acme")
        .query("draft", "1")
        .body(file: "/srv/films/1.mp4", type: MediaType("video/mp4"))
        .expecting(201)
        .deadline(.seconds(300))
        .build()
    use(request)
}

// Request/RequestBuilder.swift
private func requestBuilderExample2() async throws {
    let film = try await requests.response(to: RequestBuilder(.get, "films/1").header("X-Tenant", "acme"), as: Film.self)
    use(film)
}

// Request/StatusExpectation.swift
private func statusExpectationExample() async throws {
    request.expectedStatus = [200...299, 304...304]
    request.expectedStatus = 201
    request.expectedStatus = .codes([200, 404])
    request.expectedStatus = .matching { $0 < 500 }
}

// Request/DataRequest+Curl.swift
private func dataRequestCurlExample() async throws {
    print(try DataRequest(.get, "users/7").curlCommand(under: RequestURL("https://shop.example.com/v1/")))
    // curl -X 'GET' --globoff 'https://shop.example.com/v1/users/7'
}

// Request/RequestSettings.swift
private func requestSettingsExample() async throws {
    var request = DataRequest(.get, "users")
    var settings = RequestSettings()
    settings.retry = .attempts(5)
    let staging = EnvironmentSnapshot(name: "staging", baseURL: url, settings: settings)

    request.retry = .never  // the same as request.settings.retry
    let shared = staging.settings
    request.settings = request.settings.merging(over: shared)
    try await requests.send(request)
}
