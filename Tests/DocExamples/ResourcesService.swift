// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsResources

private typealias Cart = ShopModels.Cart
private typealias User = ShopModels.User
private typealias Order = ShopModels.Order
private typealias Price = ShopModels.Price
private typealias Picture = ShopModels.Picture
private typealias Users = ShopModels.Users
private typealias Shop = ShopModels.Shop

private struct Account { var id = "" }

private let (id, name, token) = ("7", "", "")
private let account = Account()
private let bytes = Data()
private var request: ResourceRequest<Cart> { given() }
private var shop: Shop { given() }
private var service: HTTPResourceService { given() }
private var requests: HTTPDataRequestService { given() }
private var cart: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }
private var profile: Resource<User> { given() }

// Service/HTTPResourceService+Wiping.swift
private func hTTPResourceServiceWipingExample() async throws {
    try service.invalidate("/orders/**")
    try service.invalidate(.all)
}

// Service/HTTPResourceService+Wiping.swift
private func hTTPResourceServiceWipingExample2() async throws {
    try service.wipe("/users/7/**")
    try service.wipe(.all, .includingWrites)
}

// Service/HTTPResourceService+Wiping.swift
private func hTTPResourceServiceWipingExample3() async throws {
    try await service.wipe("/accounts/**", purging: .caches)
}

// Service/HTTPResourceService+Wiping.swift
private func hTTPResourceServiceWipingExample4() async throws {
    requests.setAuthorization(try .bearer(token))
    service.enter(EntityPartition(account.id))
}

// Service/ResourceService.swift
private func resourceServiceExample() async throws {
    struct Shop: Sendable {
        let service: any ResourceService
        var cart: Resource<Cart> { service.resource("cart") }
        func user(_ id: String) -> Resource<User> { service.resource("users", id) }
    }
    let user = try await shop.user("7").loadIfNeeded()
    use(user)
}

// Service/ResourceService.swift
private func resourceServiceExample2() async throws {
    let profile = service.resource(Users.get(id: 7))  // Resource<User>
    use(profile)
}

// Service/ResourceService.swift
private func resourceServiceExample5() async throws {
    let picture: Resource<Picture> = service.resource(name, below: "https://cdn.example.com/pictures/")
    use(picture)
}

// Service/ResourceService.swift
private func resourceServiceExample6() async throws {
    let address = ResourceAddress.segments(["users", id])
    use(address)
}
