/// What a service over memory can do wrong.
enum MemoryFault: String, Sendable, CaseIterable {
    case ignoresOrder
    case ignoresOffset
    case ignoresPending
    case changesParent
    case savesOwnRowsOnly
    case savesHalf
    case overwrites
    case hasNoBase
    case keepsRolledBack
    case discardsAll
    case hasNoConstraints
    case namesNoConstraints
    case neverRestricts
    case neverCascades
    case forgetsOtherColumns
    case trimsTexts
    case tellsNobody
    case tellsEverybody
    case tellsNoRows
    case tellsOfThePast
    case knowsNoOrigins
    case runsWithinClosures
    case staysOpen
    case savesValidations
    case importsIntoScope
    case keepsFailedUnits
    case answersTooEarly
    case forgetsRows
    case hidesCause
}
