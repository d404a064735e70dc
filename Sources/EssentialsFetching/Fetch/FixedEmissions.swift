import Dispatch
public import EssentialsRequests

extension Emissions {
    /// A sequence that emits these values and ends, for test doubles and previews.
    ///
    /// ```swift
    /// struct FakeCoins: CoinFetching {
    ///     func coins() -> Emissions<[Coin]> { Emissions([Emission([.bitcoin], from: .cache)], failure: offline) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - values: The values in order.
    ///   - failure: The failure that follows them; `nil` for none.
    public init(_ values: [Emission<Value>], failure: RequestFailure? = nil) {
        self.init(FixedEmissions(values: values.map(\.erased), failure: failure))
    }
}

private struct FixedEmissions: EmissionSource {
    let values: [FetchEmission]
    let failure: RequestFailure?

    var callbackQueue: DispatchQueue { fixedEmissionsQueue }

    func begin() -> any EmissionRun { FixedRun(self) }

    func beginReading() -> FetchOperation? { nil }
}

/// The queue for handlers of sequences that belong to no data-request service.
private let fixedEmissionsQueue = DispatchQueue(label: "essentials.emissions")

private final class FixedRun: EmissionRun {
    var operation: FetchOperation? { nil }
    private var values: ArraySlice<FetchEmission>
    private var failure: RequestFailure?

    init(_ source: FixedEmissions) { (values, failure) = (source.values[...], source.failure) }

    func next() async throws(RequestFailure) -> FetchEmission? {
        if let value = values.popFirst() { return value }
        if let failure = failure.take() { throw failure }
        return nil
    }
}
