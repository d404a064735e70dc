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
    private enum Condition: Sendable {
        case text(TextSearch, [any KeyPath<Model, String> & Sendable])
        case optionalText(TextSearch, [any KeyPath<Model, String?> & Sendable])
        case predicate(@Sendable (Model) -> Bool)
    }

    /// A step of the evaluation. It has one result and needs no recursion, so filters can be nested to any depth.
    private enum Step: Sendable {
        case test(Condition)
        case matchAll
        case invert
        /// Skips steps if the result is false.
        case skipUnless(Int)
        /// Skips steps if the result is true.
        case skipIf(Int)
    }

    /// The steps; empty if all models match.
    private let steps: [Step]

    private init(steps: [Step]) { self.steps = steps }

    // MARK: Conditions

    /// Matches all models.
    public init() { self.init(steps: []) }

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
        let search = TextSearch(text, comparison)
        self.init(steps: search.isEmpty ? [] : [.test(.text(search, [path] + others))])
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
        let search = TextSearch(text, comparison)
        self.init(steps: search.isEmpty ? [] : [.test(.optionalText(search, [path] + others))])
    }

    /// Matches models whose property is one of several values.
    ///
    /// - Parameters:
    ///   - ids: The values. Without values no model matches.
    ///   - path: The property.
    public init<ID: Hashable & Sendable>(ids: some Sequence<ID>, at path: any KeyPath<Model, ID> & Sendable) {
        let ids = Set(ids)
        self.init(steps: [.test(.predicate { ids.contains($0[keyPath: path]) })])
    }

    /// Matches models that have one of several identifiers.
    ///
    /// - Parameter ids: The identifiers. Without identifiers no model matches.
    public init(ids: some Sequence<Model.ID>) where Model: Identifiable, Model.ID: Sendable {
        let ids = Set(ids)
        self.init(steps: [.test(.predicate { ids.contains($0.id) })])
    }

    // MARK: Combinations

    /// Matches models that match both filters.
    public static func && (first: ModelFilter, second: ModelFilter) -> ModelFilter {
        ModelFilter(steps: first.code + [.skipUnless(second.code.count)] + second.code)
    }

    /// Matches models that match one of the filters or both.
    public static func || (first: ModelFilter, second: ModelFilter) -> ModelFilter {
        ModelFilter(steps: first.code + [.skipIf(second.code.count)] + second.code)
    }

    /// Matches models that do not match a filter.
    public static prefix func ! (filter: ModelFilter) -> ModelFilter {
        ModelFilter(steps: filter.code + [.invert])
    }

    /// The steps for use in another filter, which needs a result.
    private var code: [Step] { steps.isEmpty ? [.matchAll] : steps }

    // MARK: Evaluation

    /// Whether a model matches.
    public func matches(_ model: Model) -> Bool {
        var scratch = TextSearch.Scratch()
        return matches(model, &scratch)
    }

    /// The models that match, in their order.
    public func matching(_ models: [Model]) -> [Model] {
        if steps.isEmpty { return models }
        var scratch = TextSearch.Scratch()
        return models.filter { matches($0, &scratch) }
    }

    private func matches(_ model: Model, _ scratch: inout TextSearch.Scratch) -> Bool {
        var (result, next) = (true, 0)
        while next < steps.count {
            switch steps[next] {
            case .test(let condition): result = Self.meets(model, condition, &scratch)
            case .matchAll: result = true
            case .invert: result.toggle()
            case .skipUnless(let count): if !result { next += count }
            case .skipIf(let count): if result { next += count }
            }
            next += 1
        }
        return result
    }

    private static func meets(_ model: Model, _ condition: Condition, _ scratch: inout TextSearch.Scratch) -> Bool {
        switch condition {
        case .text(let search, let paths):
            for path in paths where search.isContained(in: model[keyPath: path], &scratch) { return true }
        case .optionalText(let search, let paths):
            for path in paths {
                if let text = model[keyPath: path], search.isContained(in: text, &scratch) { return true }
            }
        case .predicate(let predicate): return predicate(model)
        }
        return false
    }
}
