import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials

/// A list of users on three pages, in the shapes in which servers send one.
struct PagingFixture {
    struct User: Codable, Hashable, Sendable {
        var id: Int
    }

    struct UserList: Codable, Hashable, Sendable {
        var users: [User]
        var next: String?
        var total = 5
        var pages = 3
    }

    static let pages = [[User(id: 1), User(id: 2)], [User(id: 3), User(id: 4)], [User(id: 5)]]

    let transport = ScriptedTransport()
    let requests: HTTPDataRequestService

    init(_ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }) throws {
        var configuration = HTTPDataRequestService.Configuration()
        change(&configuration)
        requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport,
            configuration: configuration)
    }

    /// The targets of all requests so far.
    var targets: [String] { transport.requests.map(\.url.target) }

    /// Responds to one target with a page, and with a `Link` field if one is given.
    func answer(_ target: String, _ page: some Encodable & Sendable, link: String? = nil) {
        let fields = link.map { HTTPFields.fields("Link", $0) } ?? [:]
        transport.on { $0.url.target == target }.answer(json: page, headerFields: fields)
    }

    /// Serves the three pages with links in `Link` fields.
    func serveLinks() {
        answer("/v1/users?role=admin", Self.pages[0], link: #"</v1/users?page=2>; rel="next last""#)
        answer("/v1/users?page=2", Self.pages[1], link: "</v1/users>; rel=first, <?page=3>; rel=NEXT; title=x")
        answer("/v1/users?page=3", Self.pages[2], link: "</v1/users?page=2>; rel=prev")
    }
}

/// A service that implements the one required method.
struct ListDouble: DataRequestService {
    let codecs = CodecRegistry.standard
    let answer: @Sendable (DataRequest) throws(RequestFailure) -> DataResponse

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse { try answer(request) }
}

/// The pages, and the failure that ended them.
func collected<Model: Sendable>(
    _ pages: PageSequence<Model>
) async -> (models: [Model], failure: RequestFailure?) {
    var models: [Model] = []
    do throws(RequestFailure) {
        for try await page in pages { models.append(page.model) }
        return (models, nil)
    } catch {
        return (models, error)
    }
}

extension HTTPFields {
    /// One field.
    static func fields(_ name: String, _ value: String) -> HTTPFields {
        var fields = HTTPFields()
        fields[name] = value
        return fields
    }
}
