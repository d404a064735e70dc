extension Unicode.Scalar {
    /// Whether the character is invisible in a text or changes how the text is read: control characters (C0,
    /// C1, line breaks), bidirectional and other format characters, and other default ignorable characters
    /// (Unicode, section 5.21).
    package var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
