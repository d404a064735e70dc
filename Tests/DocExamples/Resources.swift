// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsRequests
@testable import EssentialsResources

private typealias Item = ShopModels.Item
private typealias Cart = ShopModels.Cart
private typealias User = ShopModels.User
private typealias Film = ShopModels.Film
private typealias Order = ShopModels.Order
private typealias Receipt = ShopModels.Receipt
private typealias Price = ShopModels.Price
private typealias Picture = ShopModels.Picture
private typealias Users = ShopModels.Users
private typealias Shop = ShopModels.Shop
private struct Add: Codable, Sendable { init(_ item: Item) {} }
private struct ImageView { var image = Picture() }
private enum Footer { case spinner, button, empty }

private struct Entry { let url: ResourceURL }
private struct Table { func bucket(_ hash: some Hashable) -> [Entry] { [] } }

private let app = Application()
private let (show, draw) = (app, app)
private let (table, retryButton, state) = (app, app, app)
private let (spinner, message, statusLine) = (app, app, app)
private let (id, name, text, path) = ("7", "", "", "")
private let (item, order, edited) = (Item(), Order(), Film())
private let bytes = Data()
private var slot: ResourceSlot<Picture> { given() }
private var element: ResourceSlotElement<Picture> { given() }
private var films: PagedResource<[Film], Film> { given() }
private var configuration: HTTPResourceService.Configuration { get { given() } set {} }
private var request: ResourceRequest<Cart> { given() }
private var shop: Shop { given() }
private var service: HTTPResourceService { given() }
private var cart: Resource<Cart> { given() }
private var user: Resource<User> { given() }
private var users: Resource<[User]> { given() }
private var article: Resource<Film> { given() }
private var photos: Resource<[Film]> { given() }
private var orders: Resource<[Order]> { given() }
private var prices: Resource<[Price]> { given() }
private var profile: Resource<User> { given() }
private var imageView: ImageView { get { ImageView() } set {} }

// Address/ResourceBase.swift
private func resourceBaseExample(base: ResourceBase, table: Table, path: String) {
    let found = PathText.withPlain(path) { bytes in
        table.bucket(base.hash(ofPlain: bytes)).first { base.matches(plain: bytes, $0.url) }
    }
    _ = found
}

// Address/ResourceURL.swift
private func resourceURLExample() async throws {
    try service.configure(.matching { url in url.isBelowBase }) { $0.expiration = .seconds(300) }
    try service.wipe(.matching { url in "\(url)" == "https://api.example.com/v1/users/7" })
}

// Address/ResourceVariant.swift
private func resourceVariantExample() async throws {
    let table: Resource<Data> = service.resource("report", variant: .accept("text/csv"))
    let german: Resource<Data> = service.resource(
        "report", variant: [.accept("text/csv"), .acceptLanguage("de")])
    use(table, german)
}

// Paging/PagedResource.swift
private func pagedResourceExample() async throws {
    let films = PagedResource(service.resource("films", as: [Film].self), by: .link())
    try await films.next()                                  // loads the first page, then the one after the last
    for await state in films.states(loading: .ifNeeded) { draw(state.items) }
    try await films.refresh(.allThenSwap)
}

// Paging/PagedResource+States.swift
private func pagedStateExample() async throws {
    draw(state.items, footer: state.isLoading ? Footer.spinner : state.hasNext ? .button : .empty)
}

// Paging/PagedResource+States.swift
private func pagedStateExample2() async throws {
    for await state in films.states(loading: .ifNeeded) { draw(state.items) }
}

// Pressure/KernelMemoryPressure.swift
private func kernelMemoryPressureExample() async throws {
    configuration.memoryPressure = try KernelMemoryPressure()
}

// Pressure/MemoryPressureSource.swift
private func memoryPressureSourceExample2() async throws {
    let pressure = ManualMemoryPressure()
    configuration.memoryPressure = pressure
    pressure.report(.low)
}

// State/ResourceState.swift
private func resourceStateExample() async throws {
    let state = shop.cart.state
    show(state.content, isStale: !state.isFresh, state.failure?.message)
}

// Status/ResourceSlot.swift
private func resourceSlotExample() async throws {
    let slot = ResourceSlot<Picture>()
    slot.resource = shop.service.resource("pictures", id)
    for await element in slot.elements {
        imageView.image = element.value(placeholder: .grey, alternative: .broken)
    }
}

// Status/ResourceSlot.swift
private func resourceSlotExample2() async throws {
    let image = element.value(placeholder: .grey, alternative: .broken)
    use(image)
}

// Status/ResourceSlot.swift
private func resourceSlotExample3() async throws {
    for await element in slot.elements { show(element) }
}

// Status/ResourceStatus.swift
private func resourceStatusExample() async throws {
    for await status in ResourceStatus.of(cart, orders) {
        switch status {
        case .loading: spinner.show()
        case .content: table.show()
        case .failed(let failure): message.show(failure.message)
        }
    }
}

// Status/ResourceStatusSet.swift
private func resourceStatusSetExample() async throws {
    let status = ResourceStatusSet(cart, orders)
    for await current in status.statuses { statusLine.show(current) }
    retryButton.onPress = { status.retryFailed() }
}

// Writing/RelatedResources.swift
private func relatedResourcesExample() async throws {
    try await cart.post(item, invalidating: "/orders/**")
    try await cart.post(item, invalidating: ["/orders/**", .tag("prices"), .resource(profile)])
}

// Writing/Resource+Sending.swift
private func resourceSendingExample() async throws {
    let profile = service.resource(Users.get(id: 7))
    try await profile.send(Users.rename(id: 7, to: "Ada"), optimistically: { $0.name = "Ada" })
}

// Writing/Resource+Writing.swift
private func resourceWritingExample() async throws {
    try await shop.cart.patch(Add(item), optimistically: { $0.items.append(item) }, invalidating: "/orders/**")
}

// Writing/WriteOptions.swift
private func writeOptionsExample() async throws {
    try await article.put(edited, .ifUnchanged)
    try await photos.post(body: .data(bytes, type: MediaType("image/jpeg")), [.concurrent, .returningContent])
}

// Writing/WriteOutcome.swift
private func writeOutcomeExample() async throws {
    let outcome = try await shop.orders.post(order)
    let receipt = try outcome.content(as: Receipt.self)
    let created: Resource<Order>? = outcome.location?.resource()
    use(receipt, created)
}

// Reporting/LoadEvent.swift
private struct LoadEventExample: LoadObserver {
    func observe(_ event: LoadEvent) {
        if case .began(let reason) = event.kind { print(event.resource, "is loaded:", reason) }
    }
}

// Reporting/LoadObserver.swift
final class LoadCounter: LoadObserver {
    let count = Atomic(0)

    func observe(_ event: LoadEvent) {
        if case .began = event.kind { count.add(1, ordering: .relaxed) }
    }
}
