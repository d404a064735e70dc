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

    static let status: Request<Status> = request(.get, "status")

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

        static let getAll: Request<[User]> = request(.get)
        static func get(id: Int) -> Request<User> { request(.get, "\(id)") }
        static func create(_ user: User) -> Request<User> { request(.post) { RequestContent { user } } }
        static func delete(id: Int) -> Request<Void> { request(.delete, "\(id)") }

        @APIRequestBuilder<Users>
        static func find(role: String?, tags: [String] = []) -> Request<[User]> {
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

            static func get(of user: Int, _ number: String) -> Request<Data> {
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
