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
private typealias Shop = ShopModels.Shop

private final class Screen: Sendable { func show(_ cart: Cart?) {} }
private final class CartLog: ResourceObserver {
    func resourceChanged(_ change: ResourceChange<Cart>, of resource: Resource<Cart>) {}
    func callAsFunction(_ values: Any...) {}
}

private let app = Application()
private let (show, showSpinner) = (app, app)
private let (id, name, token) = ("7", "", "")
private let (screen, badge, log) = (Screen(), CartLog(), CartLog())
private var shop: Shop { given() }
private var service: HTTPResourceService { given() }
private var cart: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }

// Observing/Resource+Sequences.swift
private func resourceSequencesExample2() async throws {
    for await change in cart.changes() {
        print(change.event, change.state.version)
    }
}

// Observing/Resource+Sequences.swift
private func resourceSequencesExample3() async throws {
    for await cart in shop.cart.contents { show(cart) }
}

// Observing/ResourceEvent.swift
private func resourceEventExample() async throws {
    for await change in cart.changes() {
        if case .failed(let failure) = change.event { show(failure.message) }
    }
}

// Observing/ResourceEvent.swift
private func resourceEventExample2(change: ResourceChange<Cart>) {
    if case .wiped(.environment) = change.event { showSpinner() }
}

// Observing/ResourceEvent.swift
private func resourceEventExample3() async throws {
    let observation = cart.observe { change in log(change.event, change.state.version) }
    use(observation)
}

// Observing/ResourceObservation.swift
private func resourceObservationExample() async throws {
    let observation = cart.observe { change in log(change.event) }
    observation.cancel()
}

// Observing/ResourceObservation.swift
private func resourceObservationExample2() async throws {
    final class Screen {
        private let observations = ResourceObservations()
        init(_ cart: Resource<Cart>) { cart.observe { change in show(change.event) }.store(in: observations) }
    }
}

// Layers/ResourceObserver.swift
private func resourceObserverExample() async throws {
    final class CartBadge: ResourceObserver {
        func resourceChanged(_ change: ResourceChange<Cart>, of resource: Resource<Cart>) {
            show(change.state.content?.items.count ?? 0)
        }
    }
    shop.cart.addObserver(badge)                // until the badge is released
    shop.cart.addObserver(log, owner: screen)   // until the screen is released
}

// Layers/ResourceObserver.swift
private func resourceObserverExample2() async throws {
    shop.cart.addObserver(log, owner: screen)
}

// Layers/ResourceObserver.swift
private func resourceObserverExample3() async throws {
    shop.cart.addObserver(owner: screen) { [weak screen] change in screen?.show(change.state.content) }
}

// Layers/ResourceObserver.swift
private func resourceObserverExample4() async throws {
    let token = cart.addObserver(owner: screen) { change in log(change.event) }
    token.remove()
}
