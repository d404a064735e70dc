/// The protocol of the registered services, without a class requirement as in most programs.
protocol MeasuredService: Sendable {
    var number: Int { get }
}

/// A service without dependencies.
final class PlainService: MeasuredService {
    let number: Int

    init(number: Int = 0) {
        self.number = number
    }
}

/// A service whose reference count shares no cache line with another one, so that two threads share
/// only the locator's memory.
final class SpacedService: MeasuredService {
    let number = 0
    // The count is at the start of the object, and no other block of this size starts within two cache lines.
    private let padding: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

/// Uses a service from the optimizer's point of view. Otherwise an unused copy would be removed.
@inline(never)
@_optimize(none)
func consume(_ service: any MeasuredService) {}

/// Uses an object that was read from a weak reference.
@inline(never)
@_optimize(none)
func consume(_ object: AnyObject?) {}
