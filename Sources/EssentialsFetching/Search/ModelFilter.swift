import EssentialsRequests

/// Selects models by texts and identifiers.
///
/// ```swift
/// let search = ModelFilter("bit", in: \Coin.name, \Coin.symbol)
/// let favourites = ModelFilter<Coin>(ids: settings.favourites)
/// let matching = try await service.models(matching: search && !favourites, at: "coins")
/// ```
///
/// A filter without conditions matches all models, and so does a filter for an empty text. No filter and no text can
/// cause a trap.
public struct ModelFilter<Model: Sendable>: Sendable {
    /// A step of the evaluation. It has one result and needs no recursion, so filters can be nested to any depth.
    private enum Step: Sendable {
        case test(@Sendable (Model) -> Bool)
        case invert
        /// Skips steps if the result is a value.
        case skip(Int, if: Bool)
    }

    private let steps: [Step]

    private init(_ condition: @escaping @Sendable (Model) -> Bool) { steps = [.test(condition)] }

    private init(steps: [Step]) { self.steps = steps }

    // MARK: Conditions

    /// Matches all models.
    public init() { self.init { _ in true } }

    /// Matches models that contain a text in one of several properties.
    ///
    /// - Parameters:
    ///   - text: The text. An empty one matches all models.
    ///   - path: The property that is searched.
    ///   - others: Further properties.
    ///   - comparison: How texts are compared. The default ignores case and diacritics.
    public init(
        _ text: String, in path: any KeyPath<Model, String> & Sendable,
        _ others: (any KeyPath<Model, String> & Sendable)..., comparing comparison: TextComparison = []
    ) {
        let (search, paths) = (TextSearch(text, comparison), [path] + others)
        self.init { model in paths.contains { search.isContained(in: model[keyPath: $0]) } }
    }

    /// Matches models that contain a text in one of several properties that can be `nil`. A `nil` contains no text.
    ///
    /// - Parameters:
    ///   - text: The text. An empty one matches all models.
    ///   - path: The property that is searched.
    ///   - others: Further properties.
    ///   - comparison: How texts are compared. The default ignores case and diacritics.
    public init(
        _ text: String, in path: any KeyPath<Model, String?> & Sendable,
        _ others: (any KeyPath<Model, String?> & Sendable)..., comparing comparison: TextComparison = []
    ) {
        let (search, paths) = (TextSearch(text, comparison), [path] + others)
        self.init { model in search.isEmpty || paths.contains { model[keyPath: $0].map(search.isContained) ?? false } }
    }

    /// Matches models whose property is one of several values.
    ///
    /// - Parameters:
    ///   - ids: The values. Without values no model matches.
    ///   - path: The property.
    public init<ID: Hashable & Sendable>(ids: some Sequence<ID>, at path: any KeyPath<Model, ID> & Sendable) {
        let ids = Set(ids)
        self.init { ids.contains($0[keyPath: path]) }
    }

    /// Matches models that have one of several identifiers.
    ///
    /// - Parameter ids: The identifiers. Without identifiers no model matches.
    public init(ids: some Sequence<Model.ID>) where Model: Identifiable, Model.ID: Sendable {
        let ids = Set(ids)
        self.init { ids.contains($0.id) }
    }

    // MARK: Combinations

    /// Matches models that match both filters.
    public static func && (first: ModelFilter, second: ModelFilter) -> ModelFilter {
        ModelFilter(steps: first.steps + [.skip(second.steps.count, if: false)] + second.steps)
    }

    /// Matches models that match one of the filters or both.
    public static func || (first: ModelFilter, second: ModelFilter) -> ModelFilter {
        ModelFilter(steps: first.steps + [.skip(second.steps.count, if: true)] + second.steps)
    }

    /// Matches models that do not match a filter.
    public static prefix func ! (filter: ModelFilter) -> ModelFilter {
        ModelFilter(steps: filter.steps + [.invert])
    }

    // MARK: Evaluation

    /// Whether a model matches.
    public func matches(_ model: Model) -> Bool {
        var (result, next) = (true, 0)
        while next < steps.count {
            switch steps[next] {
            case .test(let condition): result = condition(model)
            case .invert: result.toggle()
            case .skip(let count, let value): if result == value { next += count }
            }
            next += 1
        }
        return result
    }

    /// The models that match, in their order.
    public func matching(_ models: [Model]) -> [Model] { models.filter(matches) }
}
