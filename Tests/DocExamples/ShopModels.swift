import FoundationEssentials
import ServiceEssentials

/// The models of the examples of resources.
enum ShopModels {
    struct Item: Codable, Sendable {}

    struct Cart: Codable, Sendable {
        static let empty = Cart()
        var items: [Item] = []
    }

    struct User: Codable, Sendable {
        var name = ""
        var accountID = ""
    }

    struct Film: Codable, Sendable, Identifiable {
        var id = 1
        var url = ""
    }

    struct Order: Codable, Sendable {}
    struct Receipt: Codable, Sendable {}
    struct Price: Codable, Sendable { var name = "" }
    struct File: Codable, Sendable {}

    struct Picture: Codable, Sendable {
        static let grey = Picture()
        static let broken = Picture()
        init() {}
        init(_ bytes: Data) throws {}
        init(decoding bytes: Data) throws {}
    }

    struct Report: Codable, Sendable {
        static let none = Report()
        init() {}
        init(_ bytes: Data) throws {}
        func sorted() -> Report { self }
    }

    enum Users: APIService {
        static func get(id: Int) -> APIRequest<User> { request(.get, "users/\(id)") }
        static func rename(id: Int, to name: String) -> APIRequest<User> { request(.patch, "users/\(id)") }
    }

    struct Shop: Sendable {
        let service: any ResourceService
        var cart: Resource<Cart> { service.resource("cart") }
        var orders: Resource<[Order]> { service.resource("orders") }
        var prices: Resource<[Price]> { service.resource("prices") }
        func user(_ id: String) -> Resource<User> { service.resource("users", id) }
    }
}
