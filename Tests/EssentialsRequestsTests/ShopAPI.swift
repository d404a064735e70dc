import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// An API as a namespace, with nested endpoints.
enum ShopAPI: APIService {
    static let baseURL: RequestBase = "https://shop.example/v1?key=a%20b"

    static var sharedProperties: RequestProperties {
        RequestHeaders {
            ("X-Client", "tests")
            RequestHeader.accept(.json)
        }
    }

    static let status: APIRequest<Status> = request(.get, "status")

    struct Status: Codable, Sendable, Hashable { let isUp: Bool }

    struct User: Codable, Sendable, Hashable {
        let id: Int
        let name: String
    }

    struct Problem: Codable, Sendable, Hashable { let title: String }

    enum Users: Endpoint {
        typealias Parent = ShopAPI
        static let path: RequestPath = "/people/users/"
        static var errorModel: (any (Decodable & Sendable).Type)? { Problem.self }

        static let getAll: APIRequest<[User]> = request(.get)
        static func get(id: Int) -> APIRequest<User> { request(.get, "\(id)") }
        static func create(_ user: User) -> APIRequest<User> { request(.post) { RequestContent { user } } }
        static func delete(id: Int) -> APIRequest<Void> { request(.delete, "\(id)") }

        @APIRequestBuilder<Users>
        static func find(role: String?, tags: [String] = []) -> APIRequest<[User]> {
            HTTPRequest.Method.get
            RequestPath {
                "search"
                if role == nil { "everyone" }
            }
            RequestQuery {
                if let role { ("role", role) } else { ("all", "") }
                for tag in tags { ("tag", tag) }
            }
        }

        enum Orders: Endpoint {
            typealias Parent = Users
            static let path: RequestPath = "orders"
            static var sharedProperties: RequestProperties { RequestHeaders { ("x-client", "orders") } }

            static func get(of user: Int, _ number: String) -> APIRequest<Data> {
                request(.get) {
                    RequestPath {
                        user; number
                    }
                    RequestQuery { ("a+b", "c+d&e=f") }
                }
            }
        }
    }
}
