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
private struct Problem: Codable, Sendable {}

private struct Settings {
    var language: String { get async { "" } }
    var favourites: [Int] = []
}

private let app = Application()
private let name = ""
private let settings = Settings()
private let logger = Logger(label: "app")
private var request: ResourceRequest<Cart> { given() }
private var service: HTTPResourceService { given() }
private var cart: Resource<Cart> { given() }
private var users: Resource<[User]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }

// Configuring/HTTPResourceService+Configuring.swift
private func hTTPResourceServiceConfiguringExample() async throws {
    try service.configure("/users/*") { $0.expiration = .seconds(300) }
    let quick = try service.configure("/prices", methods: [.get], name: "prices") { $0.expiration = .seconds(1) }
    quick.remove()
}

// Configuring/HTTPResourceService+Configuring.swift
private func hTTPResourceServiceConfiguringExample2() async throws {
    let block = try service.configure("/prices") { $0.expiration = .seconds(1) }
    block.remove()
}

// Configuring/ResourceConfiguration.swift
private func resourceConfigurationExample2() async throws {
    try service.configure("/**") { $0.errorModel = Problem.self }
}

// Configuring/ResourceDecorator.swift
private func resourceDecoratorExample() throws {
    try service.configure("/**") {
        $0.decorate { call, next in
            logger.debug("\(call.request.method) \(call.resource)")
            return try await next(call.request)
        }
    }
}

// Configuring/ResourceDecorator.swift
private func resourceDecoratorExample2() throws {
    try service.configure("/**") {
        $0.mutate { request in request.headerFields[.acceptLanguage] = await settings.language }
    }
}

// Configuring/ResourceExpiration.swift
private func resourceExpirationExample() async throws {
    try service.configure("/users/*") { $0.expiration = .seconds(300) }
    try service.configure("/prices") { $0.expiration = .byServer(else: .seconds(5)) }
}

// Configuring/ResourcePattern.swift
private func resourcePatternExample() async throws {
    try service.configure("/users/*") { $0.expiration = .seconds(300) }              // one segment
    try service.configure("/users/**") { $0.expiration = .seconds(300) }             // any depth
    try service.configure("https://*.example.com/**") { $0.expiration = .seconds(9) }   // hosts outside the base
    try service.invalidate(.regex(/orders\/\d+/))
    try service.wipe(.matching { $0.isForeign })
}

// Configuring/ResourcePattern.swift
private func resourcePatternExample2() async throws {
    try service.configure(.resource(cart)) { $0.expiration = .seconds(5) }
}
