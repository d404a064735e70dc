extension Unicode.Scalar {
    /// Whether it cannot be seen in a text, or changes how the rest of it is read: control characters (C0, C1, line
    /// breaks), bidirectional and other format characters, and whatever else is shown as nothing (Unicode, 5.21).
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
