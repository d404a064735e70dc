import Dispatch
public import EssentialsRequests

extension Emissions {
    /// A sequence that emits these values and ends, for test doubles and previews.
    ///
    /// ```swift
    /// struct FakeCoins: CoinFetching {
    ///     func coins() -> Emissions<[Coin]> { Emissions([Emission([.bitcoin], from: .cache)], failure: .offline) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values in order.
    ///   - failure: The failure that follows them; `nil` for none.
    public init(_ values: [Emission<Value>], failure: RequestFailure? = nil) {
        self.init(FixedEmissions(values: values, failure: failure))
    }
}

private struct FixedEmissions<Value: Sendable>: EmissionSource {
    let values: [Emission<Value>]
    let failure: RequestFailure?

    var callbackQueue: DispatchQueue { fixedEmissionsQueue }

    func begin() -> any EmissionRun<Value> { FixedRun(self) }
}

/// The queue for handlers of sequences that belong to no data-request service.
private let fixedEmissionsQueue = DispatchQueue(label: "essentials.emissions")

private final class FixedRun<Value: Sendable>: EmissionRun {
    private var values: ArraySlice<Emission<Value>>
    private var failure: RequestFailure?

    init(_ source: FixedEmissions<Value>) { (values, failure) = (source.values[...], source.failure) }

    func next() async throws(RequestFailure) -> Emission<Value>? {
        if let value = values.popFirst() { return value }
        if let failure = failure.take() { throw failure }
        return nil
    }
}
