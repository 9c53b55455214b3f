"""The scripts that make a shell complete `tapefold`.

All hand over the line up to the cursor in COMP_WORDS, and read lines of kind, value and help with
tabs between them. What the program writes to standard error is thrown away: whatever happens, no
error text appears at the prompt.
"""

from __future__ import annotations

BASH = r"""# Completion of tapefold for bash 4.4 or newer.
#
# For this shell:    eval "$(tapefold completion bash)"
# For all of them:   tapefold completion bash > ~/.local/share/bash-completion/completions/tapefold
#                    (with the package bash-completion; else put the first line into ~/.bashrc)

_tapefold_completion() {
    local line=${COMP_LINE:0:COMP_POINT} kind value help word
    word=${line##*[[:space:]]}
    COMPREPLY=()
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                # Quoted unless a quote was typed; without what stands before a colon, at which
                # bash takes the word apart.
                [[ $word == [\"\']* ]] || printf -v value %q "$value"
                if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
                    value=${value#"${word%"${word##*:}"}"}
                fi
                COMPREPLY+=("$value")
                ;;
        esac
    done < <(COMP_WORDS=$line _TAPEFOLD_COMPLETE=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F _tapefold_completion tapefold
"""

ZSH = r"""#compdef tapefold
# Completion of tapefold for zsh.
#
# For this shell:    eval "$(tapefold completion zsh)"       (after compinit)
# For all of them:   tapefold completion zsh > DIR/_tapefold
#                    where DIR is a folder of $fpath, named there before compinit in ~/.zshrc

_tapefold_completion() {
    local -a plain described
    local kind value help line
    line="${(j: :)words[1,CURRENT]}"
    while IFS=$'\t' read -r kind value help; do
        case $kind in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ -n $help ]]; then
                    described+=("${value//:/\\:}:$help")
                else
                    plain+=("$value")
                fi
                ;;
        esac
    done < <(COMP_WORDS="$line" _TAPEFOLD_COMPLETE=zsh_complete tapefold 2>/dev/null)
    (( $#described )) && _describe -V tapefold described -U
    (( $#plain )) && compadd -U -V tapefold -a plain
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _tapefold_completion "$@"
else
    compdef _tapefold_completion tapefold
fi
"""

FISH = r"""# Completion of tapefold for fish 3 or newer.
#
# For this shell:    tapefold completion fish | source
# For all of them:   tapefold completion fish > ~/.config/fish/completions/tapefold.fish

function _tapefold_completion
    set -l line (commandline -cp | string collect)
    for answer in (env COMP_WORDS="$line" _TAPEFOLD_COMPLETE=fish_complete tapefold 2>/dev/null)
        set -l parts (string split -m 2 \t -- $answer)
        switch $parts[1]
            case dir
                __fish_complete_directories (commandline -ct)
            case file
                __fish_complete_path (commandline -ct)
            case plain
                printf '%s\t%s\n' $parts[2] "$parts[3]"
        end
    end
end

complete --command tapefold --no-files --keep-order --arguments '(_tapefold_completion)'
"""
