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
private typealias Picture = ShopModels.Picture
private typealias Shop = ShopModels.Shop

private let app = Application()
private let (show, draw) = (app, app)
private let state = app
private let discard = app
private let (id, name) = ("7", "")
private let order = Order()
private let bytes = Data()
private let visibleIDs = ["7"]
private var request: ResourceRequest<Cart> { given() }
private var shop: Shop { given() }
private var service: HTTPResourceService { given() }
private var cart: Resource<Cart> { given() }
private var backup: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var film: Resource<Film> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }
private func readFromDisk() async -> Result<ResourceResponse<Data>, RequestFailure> { given() }

// Loading/DependentResource.swift
private func dependentResourceExample() async throws {
    let orders = shop.user("7").then { user in service.resource("orders", user.accountID, as: [Order].self) }
    for await state in orders.states(loading: .ifNeeded) { draw(state.content, state.failure?.message) }
}

// Loading/DependentResource.swift
private func dependentResourceExample2(state: DependentState<User, [Order]>) {
    show(state.content, isLoading: state.isLoading, state.failure?.message)
}

// Loading/DependentResource.swift
private func dependentResourceExample3() async throws {
    for await state in orders.states(loading: .ifNeeded) { draw(state.content) }
}

// Loading/Load.swift
private func loadWishExample() async throws {
    let cart = try await shop.cart.load(.onlyIfStored)  // without the network
    use(cart)
}

// Loading/Prefetch.swift
private func prefetchExample() async throws {
    let prefetch = service.prefetch(visibleIDs.map { service.resource("pictures", $0, as: Picture.self) })
    prefetch.cancel()  // the list was left
}

// Loading/Prefetch.swift
private func prefetchExample2() async throws {
    service.prefetch(shop.cart, shop.user("7"))
}

// Loading/PushedEvents.swift
private func pushedEventsExample() async throws {
    let events = service.follow(eventsAt: "events") { event, resources in
        resources.invalidate(resources.resource("orders", event.data, as: Order.self))
    }
    use(events)
}

// Loading/PushedEvents.swift
private func pushedEventsExample2() async throws {
    let events = service.follow(eventsAt: "events", feeding: ["/orders/*"]) { event, resources in
        resources.invalidate(resources.resource("orders", event.data, as: Order.self))
    }
    use(events)
}

// Loading/PushedResources.swift
private func pushedResourcesExample() async throws {
    let events = service.follow(eventsAt: "events") { event, resources in
        guard let price = try? JSONDecoder().decode(Price.self, from: Data(event.data.utf8)) else { return }
        resources.push(price, to: resources.resource("prices", price.name))
    }
    use(events)
}

// Layers/RequestChain.swift
private func requestChainExample() async throws {
    let request = cart.startLoad().chained { outcome in
        if case .failure(let failure) = outcome, failure.reason == .status { return .pass(to: backup.startLoad()) }
        return .keep
    }
    use(request)
}

// Loading/ResourceGroup.swift
private func resourceGroupExample() async throws {
    let group = ResourceGroup(shop.cart, shop.user("7"))
    let (cart, user) = try await group.loadIfNeeded()  // in parallel
    for await (cart, user) in group.states(loading: .ifNeeded) { draw(cart.content, user.content) }
    use(cart, user)
}

// Loading/ResourceGroup.swift
private func resourceGroupExample2() async throws {
    for await (cart, user) in ResourceGroup(shop.cart, shop.user("7")).states { draw(cart.content, user.content) }
}

// Loading/ResourceRefresh.swift
private func resourceRefreshExample() async throws {
    try service.configure("/prices") { $0.refresh = .every(.seconds(5), jitter: 0.1) }
    for await state in prices.states(loading: .ifNeeded, refreshing: .every(.seconds(1))) { draw(state.content) }
}

// Layers/ResourceRequest.swift
private func resourceRequestExample() async throws {
    if request.phase == .notStarted { request.start() }
}

// Layers/ResourceRequest.swift
private func resourceRequestExample2() async throws {
    let request = shop.cart.startLoad()
    request.onNewContent { cart in show(cart) }.onFailure { failure in show(failure.message) }
    let cart = try await request.content

    let checkout: ResourceRequest<Receipt> = shop.cart.request(.post)
    let receipt = try await checkout.start().content
    use(cart, receipt)
}

// Layers/ResourceRequest.swift
private func resourceRequestExample3(isOnline: Bool) -> ResourceRequest<Cart> {
    guard isOnline else { return .answered(Cart.empty) }
    return shop.cart.startLoad()
}

// Layers/ResourceRequest.swift
private func resourceRequestExample4() async throws {
    let request = ResourceRequest<Data>.custom { completion in
        completion.complete(await readFromDisk())
    }
    use(request)
}

// Layers/ResourceRequest.swift
private func resourceRequestExample5(_ completion: RequestCompletion<Data>) {
    if !completion.complete(.success(ResourceResponse(bytes))) { discard(bytes) }
}

// Layers/ResourceResponse.swift
private func resourceResponseExample() async throws {
    let request: ResourceRequest<Receipt> = cart.request(.post, body: .model(order))
    let response = try await request.start().response
    print(response.status, response.headerFields[.location] ?? "none")
}

// Loading/UnobservedCheck.swift
private func unobservedCheckExample() async throws {
    let check = film.cancelLoadIfUnobserved(after: .milliseconds(50))
    check.callOff()  // the film is shown again
}
