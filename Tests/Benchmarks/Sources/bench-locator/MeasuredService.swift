/// What the services are registered as: a protocol like those of a program, without a class requirement.
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

/// A service whose reference count shares no cache line with that of another one, so that two threads only meet in
/// what the locator does.
final class SpacedService: MeasuredService {
    let number = 0
    // The count stands at the start of the object, and no block of this size starts within two lines of another.
    private let padding: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

/// Uses a service as far as the optimizer can tell. Without it a copy that nobody looks at would not be made.
@inline(never)
@_optimize(none)
func consume(_ service: any MeasuredService) {}

/// As `consume` for objects that were read from weak references.
@inline(never)
@_optimize(none)
func consume(_ object: AnyObject?) {}
