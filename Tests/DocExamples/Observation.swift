// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsObservation
import Observation
import ServiceEssentials

private struct Cart: Codable, Sendable { var name = "" }
private struct Shop { var cart: Resource<Cart> { given() } }
private struct Title { func show(_ text: String?, isBusy: Bool) {} }
private let (shop, title) = (Shop(), Title())

// ObservedResource.swift
private func observedResourceExample() async throws {
    @MainActor final class CartView {
        let cart = ObservedResource(shop.cart, loading: .ifNeeded)

        func draw() {
            withObservationTracking {
                title.show(cart.content?.name, isBusy: cart.isLoading)
            } onChange: {
                Task { @MainActor in self.draw() }
            }
        }
    }
}
