/// Foreign text made fit for one line of a log or a message.
public enum DisplayText {
    /// The most characters that are kept.
    public static let limit = 200

    /// The text with control characters replaced and cut to ``limit`` characters.
    public static func shortened(_ text: String) -> String {
        var output = ""
        for (count, scalar) in text.unicodeScalars.enumerated() {
            if count == limit { return output + "…" }
            let isControl = scalar.properties.generalCategory == .control || scalar.value == 0x2028
            output.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return output
    }
}
