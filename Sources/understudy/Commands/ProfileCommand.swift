import Profiles

/// `understudy profile`: the document a profile of one's own begins with.
enum ProfileCommand {
    static let spec = CommandSpec(
        "profile", "print the built-in profile: every name and number of the wire that is assumed",
        notes: [
            """
            Each value says whether the description states it. For a staging IdP that spells something else, save \
            this, change it, and name the file with --profile; the phone and the reference IdPs follow.
            """
        ]
    ) { (_, context) throws(CommandFailure) in
        context.output.say(
            String(decoding: SenseCryptProfile.builtInDocument, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).map(String.init))
        return .done
    }
}
