import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// An item that the server of the test or the test itself has made. It names the user for whom it was made.
struct MadeItem: Codable, Sendable, Equatable {
    /// The running number. The model records the user of the item under it.
    var number: Int
    /// The user for whom it was made, so that it can be found in files: the token, or `nobody`.
    var maker: String

    init(number: Int, token: String?) { (self.number, maker) = (number, Self.maker(token)) }

    static func maker(_ token: String?) -> String { "made-for-\(token ?? "nobody")-" }

    var json: Data { (try? JSONEncoder().encode(self)) ?? Data() }

    init?(json: Data) {
        guard let item = try? JSONDecoder().decode(MadeItem.self, from: json) else { return nil }
        self = item
    }
}

/// An environment of the test. The server sees all of it except the name.
struct TestedEnvironment: Sendable, Hashable {
    let name: String
    let origin: String
    let tenant: String
    let language: String

    /// Two tenants that differ in one header field, an environment that differs only in its name, and another server
    /// with two languages and with the name and the tenant of the first one.
    static let all = [
        TestedEnvironment(name: "shop", origin: "https://a.test", tenant: "secret-zero", language: ""),
        TestedEnvironment(name: "shop", origin: "https://a.test", tenant: "secret-one", language: ""),
        TestedEnvironment(name: "other", origin: "https://a.test", tenant: "secret-zero", language: ""),
        TestedEnvironment(name: "", origin: "https://b.test", tenant: "", language: ""),
        TestedEnvironment(name: "", origin: "https://b.test", tenant: "", language: "de"),
        TestedEnvironment(name: "shop", origin: "https://b.test", tenant: "secret-zero", language: ""),
    ]

    static let tenantField = HTTPField.Name("X-Tenant")!

    /// The snapshot for the product.
    func snapshot() throws -> EnvironmentSnapshot {
        var fields = HTTPFields()
        if !tenant.isEmpty { fields[Self.tenantField] = tenant }
        if !language.isEmpty { fields[.acceptLanguage] = language }
        return EnvironmentSnapshot(name: name, baseURL: try RequestURL(origin + "/v1/"), headerFields: fields)
    }

    /// Whether a server cannot distinguish the environments.
    func looksLike(_ other: TestedEnvironment) -> Bool {
        (origin, tenant, language) == (other.origin, other.tenant, other.language)
    }

    /// Whether one environment gets the outbox entries of the other: the name decides, or the base URL if there is no
    /// name, and the header fields.
    func sharesOutbox(with other: TestedEnvironment) -> Bool {
        name == other.name && (!name.isEmpty || origin == other.origin) && tenant == other.tenant
            && language == other.language
    }
}

/// A token names its user, its number and its origin: `ada.3.a`.
enum TestedToken {
    static func make(_ user: String, _ number: Int, at origin: String) -> String {
        "\(user).\(number).\(origin.dropFirst("https://".count).prefix(1))"
    }

    static func user(of token: String?) -> String {
        token.map { String($0.prefix { $0 != "." }) } ?? ""
    }

    static func isAt(_ origin: String, _ token: String) -> Bool {
        token.last == origin.dropFirst("https://".count).first
    }
}

/// The store in which an item was found.
enum TestedStore: String, Sendable {
    case resource, model, blob
}

/// Something that must not happen.
struct IdentityViolation: Sendable {
    /// The kind, by which findings are grouped.
    let kind: String
    let detail: String
}
