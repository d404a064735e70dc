import EssentialsTools
import ServiceEssentials

/// The items of one workflow.
protocol CartService: AnyObject, Sendable {
    var items: [String] { get throws }
    func add(_ item: String) throws
}

/// A cart that is owned by its workflow alone.
final class Cart: CartService {
    private let contents = Mutex<[String]>([])

    var items: [String] { contents.withLock { $0 } }
    func add(_ item: String) { contents.withLock { $0.append(item) } }
}

/// Represents a cart in the locator without keeping it alive.
final class CartServiceProxy: CartService, ServiceProxy {
    let target: WeakHandle<any CartService>

    init(_ cart: some CartService) { target = WeakHandle(cart) { $0 } }

    var items: [String] { get throws { try liveTarget().items } }
    func add(_ item: String) throws { try liveTarget().add(item) }
}
