//! Rewrites source files so that all their mutants are compiled at once: `MUTANT=17 TESTS` then runs the tests with the
//! seventeenth change of the code and no other.
//!
//! ```text
//! consilience-mutants ROOT LIST SKIP FILE...
//! ```
//!
//! FILEs, named from ROOT, are rewritten where they are. LIST gets a line for each mutant: its number, where it is, in which
//! function, what changes, and the line of the source. Numbers in the file SKIP are left out (they do not compile).
//!
//! A change is one operator for another, a `!` or `-` left out, or a body of a function that gives one value only. What tests
//! cannot see stays: constants, types, patterns, what is inside of macros, and code of tests.

use std::collections::HashSet;
use std::{env, fs};

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, ExprConst, ExprMacro, ExprRepeat, ExprUnary, GenericArgument, ImplItemConst,
    ImplItemFn, ItemConst, ItemFn, ItemImpl, ItemMod, ItemStatic, Pat, ReturnType, Signature, Stmt, TraitItemFn, Type,
    UnOp, Variant, parse_quote, parse_str,
};

/// What an operator may become.
const OTHERS: &[(&str, &[&str])] = &[
    ("+", &["-", "*"]),
    ("-", &["+", "/"]),
    ("*", &["+", "/"]),
    ("/", &["*", "%"]),
    ("%", &["/", "+"]),
    ("&", &["|"]),
    ("|", &["&"]),
    ("^", &["|"]),
    ("<<", &[">>"]),
    (">>", &["<<"]),
    ("+=", &["-=", "*="]),
    ("-=", &["+=", "/="]),
    ("*=", &["+=", "/="]),
    ("/=", &["*=", "%="]),
    ("|=", &["&="]),
    ("&=", &["|="]),
    ("<", &["==", ">", "<="]),
    (">", &["==", "<", ">="]),
    ("<=", &[">", "<"]),
    (">=", &["<", ">"]),
    ("==", &["!="]),
    ("!=", &["=="]),
    ("&&", &["||"]),
    ("||", &["&&"]),
];

/// What a function of this type may give instead.
const VALUES: &[(&str, &[&str])] = &[
    ("bool", &["true", "false"]),
    ("f64", &["0.0", "1.0", "-1.0"]),
    ("f32", &["0.0", "1.0", "-1.0"]),
    ("usize", &["0", "1"]),
    ("u64", &["0", "1"]),
    ("u32", &["0", "1"]),
    ("i64", &["0", "1", "-1"]),
    ("String", &["String::new()", "\"xyzzy\".to_string()"]),
    ("Vec<f64>", &["vec![]", "vec![0.0]", "vec![1.0]"]),
    ("Vec<u32>", &["vec![]", "vec![0]", "vec![1]"]),
    ("Vec<usize>", &["vec![]", "vec![0]", "vec![1]"]),
    ("Result<()>", &["Ok(())"]),
    ("Result<f64>", &["Ok(0.0)", "Ok(1.0)", "Ok(-1.0)"]),
    ("Result<usize>", &["Ok(0)", "Ok(1)"]),
    ("Result<u32>", &["Ok(0)", "Ok(1)"]),
    ("Result<bool>", &["Ok(true)", "Ok(false)"]),
    ("Result<String>", &["Ok(String::new())"]),
];

/// The same for types of which the beginning tells enough.
const BEGINNINGS: &[(&str, &str)] =
    &[("Option<", "None"), ("Vec<", "vec![]"), ("Result<Vec<", "Ok(vec![])"), ("Result<Option<", "Ok(None)")];

struct Rewriter {
    skip: HashSet<u32>,
    /// A line for each mutant.
    list: Vec<String>,
    file: String,
    lines: Vec<String>,
    /// The functions and types around.
    within: Vec<String>,
}

impl Rewriter {
    /// The number of a new mutant, unless it is left out.
    fn mutant(&mut self, at: Span, what: &str) -> Option<u32> {
        let id = self.list.len() as u32 + 1;
        let start = at.start();
        let line = self.lines.get(start.line - 1).map_or("", |line| line.trim());
        let (file, within) = (&self.file, self.within.join("::"));
        self.list.push(format!("{id}\t{file}:{}:{}\t{within}\t{what}\t{line}", start.line, start.column + 1));
        (!self.skip.contains(&id)).then_some(id)
    }

    fn function(&mut self, signature: &Signature, block: &mut Block) {
        if signature.constness.is_some() {
            return;
        }
        self.within.push(signature.ident.to_string());
        visit_mut::visit_block_mut(self, block);
        if !block.stmts.is_empty() {
            let mut instead: Vec<Stmt> = Vec::new();
            for value in values(&signature.output) {
                if let Some(id) = self.mutant(signature.ident.span(), &format!("gives {value}")) {
                    let value: Expr = parse_str(value).expect("the table has expressions");
                    instead.push(parse_quote!(if crate::mutant::is(#id) { return #value; }));
                }
            }
            instead.append(&mut block.stmts);
            block.stmts = instead;
        }
        self.within.pop();
    }

    fn binary(&mut self, expression: &ExprBinary, at: Span) -> Option<Expr> {
        let ExprBinary { left, right, op, .. } = expression;
        let name = op.to_token_stream().to_string();
        let (_, others) = OTHERS.iter().find(|(known, _)| *known == name)?;
        let numbered: Vec<(u32, BinOp)> = others
            .iter()
            .filter_map(|other| {
                let id = self.mutant(at, &format!("{name} -> {other}"))?;
                Some((id, parse_str(other).expect("the table has operators")))
            })
            .collect();
        let (ids, other): (Vec<u32>, Vec<BinOp>) = numbered.into_iter().unzip();
        let id = *ids.first()?;
        Some(match name.as_str() {
            // The right side is asked only if it matters, as ever, and must not see a variable of ours under a name of its own.
            "&&" => parse_quote!((match #left { left_of => if left_of != crate::mutant::is(#id) { #right } else { left_of } })),
            "||" => parse_quote!((match #left { left_of => if left_of == crate::mutant::is(#id) { #right } else { left_of } })),
            // Comparisons do not take what they compare.
            "<" | ">" | "<=" | ">=" | "==" | "!=" => parse_quote!((match (&(#left), &(#right)) {
                (a, b) => { #(if crate::mutant::is(#ids) { *a #other *b } else)* { *a #op *b } }
            })),
            name if name.ends_with('=') => {
                parse_quote!({ #(if crate::mutant::is(#ids) { #left #other #right } else)* { #left #op #right } })
            }
            _ => parse_quote!((match (#left, #right) {
                (a, b) => { #(if crate::mutant::is(#ids) { a #other b } else)* { a #op b } }
            })),
        })
    }

    fn unary(&mut self, ExprUnary { op, expr, .. }: &ExprUnary, at: Span) -> Option<Expr> {
        if matches!(op, UnOp::Deref(_)) || matches!(**expr, Expr::Lit(_)) {
            return None;
        }
        let id = self.mutant(at, &format!("no {}", op.to_token_stream()))?;
        Some(parse_quote!((match #expr { a => if crate::mutant::is(#id) { a } else { #op a } })))
    }
}

fn values(output: &ReturnType) -> Vec<&'static str> {
    let ReturnType::Type(_, of) = output else { return vec!["()"] };
    let of = of.to_token_stream().to_string().replace(' ', "");
    if let Some((_, values)) = VALUES.iter().find(|(known, _)| *known == of) {
        return values.to_vec();
    }
    let known = BEGINNINGS.iter().find(|(known, _)| of.starts_with(known));
    known.map(|(_, value)| *value).into_iter().collect()
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string().replace(' ', "");
        text == "#[test]" || text.contains("cfg(test") || text.contains("cfg(any(test")
    })
}

/// Chains of `if let` cannot be put into a block.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inside) => has_let(&inside.expr),
        _ => false,
    }
}

impl VisitMut for Rewriter {
    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        if !is_test(&module.attrs) {
            visit_mut::visit_item_mod_mut(self, module);
        }
    }

    fn visit_item_impl_mut(&mut self, block: &mut ItemImpl) {
        if !is_test(&block.attrs) {
            self.within.push(block.self_ty.to_token_stream().to_string().replace(' ', ""));
            visit_mut::visit_item_impl_mut(self, block);
            self.within.pop();
        }
    }

    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig.clone(), &mut function.block);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig.clone(), &mut function.block);
        }
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut TraitItemFn) {
        if let Some(block) = &mut function.default {
            self.function(&function.sig.clone(), block);
        }
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let at = match expression {
            Expr::Binary(binary) => binary.op.span(),
            Expr::Unary(unary) => unary.op.span(),
            _ => return visit_mut::visit_expr_mut(self, expression),
        };
        visit_mut::visit_expr_mut(self, expression);
        let new = match expression {
            Expr::Binary(binary) if !has_let(&binary.left) && !has_let(&binary.right) => self.binary(binary, at),
            Expr::Unary(unary) => self.unary(unary, at),
            _ => None,
        };
        if let Some(new) = new {
            *expression = new;
        }
    }

    // Only what is computed when the tests run can change then.
    fn visit_expr_repeat_mut(&mut self, repeat: &mut ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }
    fn visit_item_const_mut(&mut self, _: &mut ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut ItemStatic) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut ImplItemConst) {}
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}
    fn visit_expr_macro_mut(&mut self, _: &mut ExprMacro) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_generic_argument_mut(&mut self, _: &mut GenericArgument) {}
    fn visit_attribute_mut(&mut self, _: &mut Attribute) {}
    fn visit_variant_mut(&mut self, _: &mut Variant) {}
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [root, list, skip, files @ ..] = &words[..] else { panic!("usage: consilience-mutants ROOT LIST SKIP FILE...") };
    let skip = fs::read_to_string(skip).unwrap_or_default();
    let skip = skip.split_whitespace().map(|id| id.parse().expect("SKIP has numbers")).collect();
    let mut rewriter =
        Rewriter { skip, list: Vec::new(), file: String::new(), lines: Vec::new(), within: Vec::new() };
    for file in files {
        let path = format!("{root}/{file}");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        (rewriter.file, rewriter.lines) = (file.clone(), text.lines().map(str::to_owned).collect());
        rewriter.visit_file_mut(&mut parsed);
        fs::write(&path, prettyplease::unparse(&parsed)).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    fs::write(list, rewriter.list.join("\n") + "\n").unwrap_or_else(|error| panic!("{list}: {error}"));
}
