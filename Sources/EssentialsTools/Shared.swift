/// Values that are large and rarely changed, so that each copy of the type that has them is one reference.
package final class Shared<Values: Sendable>: Sendable {
    package let values: Values

    @inlinable
    package init(_ values: Values) { self.values = values }
}
