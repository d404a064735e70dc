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
private typealias Film = ShopModels.Film
private typealias Order = ShopModels.Order
private typealias Receipt = ShopModels.Receipt
private typealias Price = ShopModels.Price
private typealias File = ShopModels.File
private typealias Report = ShopModels.Report
private typealias Shop = ShopModels.Shop
private struct Line: Codable, Sendable {}

private let app = Application()
private let (show, bar, showBadge) = (app, app, app)
private let (id, name, text) = ("7", "", "")
private let order = Order()
private let bytes = Data()
private let nextLink = ""
private var request: ResourceRequest<Cart> { given() }
private var shop: Shop { given() }
private var service: HTTPResourceService { given() }
private var cart: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var film: Resource<Film> { given() }
private var files: Resource<[File]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }

// Resource/AnyResource.swift
private func anyResourceExample() async throws {
    let resource = service.resource(at: .path("users/7"), variant: nil)
    let user = resource.resource(as: User.self)
    let text = resource.resource(as: String.self)   // another view of the same resource
    use(user, text)
}

// Resource/Entity.swift
private func entityExample() async throws {
    let entity = user.state.entity
    print(entity?.mediaType ?? "unknown", entity?.headerFields[.eTag] ?? "no tag")
}

// Resource/Provenance.swift
private func provenanceExample() async throws {
    if case .entityCache = user.state.provenance { showBadge("saved") }
}

// Resource/Resource+Navigation.swift
private func resourceNavigationExample() async throws {
    let orders: Resource<[Order]> = user.child("orders")
    let page: Resource<[Order]>? = orders.relative(nextLink)
    let admins = users.withParam("role", "admin")
    let line = user.child("orders").child(segment: id).child("lines", as: [Line].self)
    use(page, admins, line)
}

// Resource/Resource+Navigation.swift
private func resourceNavigationExample2() async throws {
    let file: Resource<File> = files.child(segment: "a/b.txt")  // …/files/a%2Fb.txt
    use(file)
}

// Resource/Resource+Projections.swift
private func resourceProjectionsExample() async throws {
    let report: Resource<Report> = service.resource("report")
    let words = report.text.content?.split(separator: " ")
    let title = report.json.content?["title"]?.string
    use(words, title)
}

// Resource/Resource+Projections.swift
private func resourceProjectionsExample2() async throws {
    let header = try await service.resource("logo", as: Data.self).imageHeader.loadIfNeeded()
    show("\(header.format), \(header.width) × \(header.height)")
}

// Layers/Resource+Requests.swift
private func resourceRequestsExample() async throws {
    let request = film.loadRequest().onProgress { bar.show($0) }.start()
    use(request)
}

// Layers/Resource+Requests.swift
private func resourceRequestsExample2() async throws {
    let request: ResourceRequest<Receipt> = cart.request(.post, body: .model(order))
    let receipt = try await request.content
    use(receipt)
}

// Layers/Resource+Requests.swift
private func resourceRequestsExample3() async throws {
    for request in cart.runningRequests where request.method != .get { request.cancel() }
}

// Resource/Resource.swift
private func resourceExample() async throws {
    let cart: Resource<Cart> = service.resource("cart")
    let current = try await cart.loadIfNeeded()  // sends nothing if the content is fresh
    print(cart.state.content?.items ?? [])       // anywhere, without waiting
    use(current)
}

// Resource/Resource.swift
private func resourceExample2() async throws {
    let prices = try await shop.prices.loadIfNeeded(maximumAge: .seconds(5))
    use(prices)
}
